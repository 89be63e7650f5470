"""No caller is left in silence: what has something to do for the caller and does not do it is found and named."""
