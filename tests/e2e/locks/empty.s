// Functions without a body are allowed in packages that have assembly.
