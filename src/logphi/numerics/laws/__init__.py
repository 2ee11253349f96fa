"""The laws that the transform is known of, one file each."""
