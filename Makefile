PYTHON ?= python3
BIN := .venv/bin
ENGLISH := README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md SECURITY.md bench/README.md \
  .github apps graphs nodes tools skills

.PHONY: help chat studio test lint types pictures lock clean
.DEFAULT_GOAL := help

help: ## Show what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

chat: .venv/chat ## Talk in the terminal (or pipe lines into it)
	@$(BIN)/cognition chat

studio: .venv/studio ## Serve the graphs for LangGraph Studio and the API; PORT=… for another port than 2024
	@LANGGRAPH_CLI_NO_ANALYTICS=1 LANGGRAPH_NO_VERSION_CHECK=true \
	  $(BIN)/langgraph dev --no-browser --n-jobs-per-worker 10 $(if $(PORT),--port $(PORT))

test: .venv/dev ## Run the tests
	@$(BIN)/python -m pytest -q -n auto --dist loadfile

lint: .venv/dev ## Check style and spelling
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/codespell $(ENGLISH)

types: .venv/dev ## Check the types
	@$(BIN)/mypy

pictures: .venv/dev ## Draw the graphs and the settings into the documents
	@$(BIN)/python .ci/pictures.py

lock: .venv/dev ## Pin every dependency anew
	@$(BIN)/pip freeze --exclude-editable | sed 's/+cpu//' > constraints.txt

clean: ## Remove the environment
	rm -rf .venv

.venv/chat: pyproject.toml constraints.txt
	@$(call install,.)

.venv/studio: pyproject.toml constraints.txt
	@$(call install,.[studio])

.venv/dev: pyproject.toml constraints.txt
	@$(call install,.[studio$(comma)dev])

comma := ,

# A .venv that is half made, or of a Python that is too old or gone, is made anew.
define install
	$(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || $(PYTHON) -m venv --clear .venv || exit; \
	echo "Installing into .venv …" >&2; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '$(1)' </dev/null >&2 \
	  && touch $@ || { echo "Not installed: the same command tries again, after 'make clean' from nothing." >&2; exit 1; }
endef
