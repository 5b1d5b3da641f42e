# Our own file: what people use most.
NAME := app
FLAGS = --locked --quiet
.PHONY: all build clean test

all: build test
	publish $(NAME) "two words"

build:
	cargo build $(FLAGS)
	@gofmt -l .

test: build
	-eslint src
	cargo test --package "$(NAME)"

clean:
	docker rm $(NAME)
