"""A model so small that Opacus trains it in a tenth of a second."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

# eight batches an epoch, the last of them short: the sample rate is 1/8, not 8/60
RECORDS, BATCH_SIZE, BATCHES = 60, 8, 8

ADAPTIVE: dict[str, Any] = {
    "clipping": "adaptive",
    "target_unclipped_quantile": 0.5,
    "clipbound_learning_rate": 0.2,
    "max_clipbound": 10.0,
    "min_clipbound": 0.1,
    "unclipped_num_std": 1.0,
}


def made_private(make: Callable[..., Any], batch_size: int = BATCH_SIZE, shuffle: bool = False, **options: Any) -> Any:
    """Model, optimizer and loader, by a method of a PrivacyEngine."""
    torch.manual_seed(0)
    features = torch.randn(RECORDS, 3)
    labels = (features.sum(dim=1) > 0).long()
    model = torch.nn.Linear(3, 2)
    return make(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=DataLoader(TensorDataset(features, labels), batch_size=batch_size, shuffle=shuffle),
        max_grad_norm=1.0,
        **options,
    )


def train(model: Any, optimizer: Any, loader: Any, *, epochs: int = 1) -> int:
    """How often the optimizer was told to step."""
    calls = 0
    for _ in range(epochs):
        for features, labels in loader:
            optimizer.zero_grad()
            cross_entropy(model(features), labels).backward()
            optimizer.step()
            calls += 1
    return calls
