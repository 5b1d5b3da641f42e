# Nothing here needs Terragrunt, so the stack also runs on `tofu` or `terraform` alone.
inputs = {}
