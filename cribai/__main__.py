"""`python -m cribai`: the command line."""

from cribai.cli.main import main

if __name__ == "__main__":
    main()
