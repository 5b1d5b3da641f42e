#!/bin/sh
echo "hello from the pack"
