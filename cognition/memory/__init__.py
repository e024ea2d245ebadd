"""The stores of vectors: what is remembered, and how it is found."""
