"""What a user holds: mechanisms that compose, are sampled, are asked and are written down."""
