"""The pages' functions: navigation, forms, meters, results, charts and the code pane. Imports
neither torch nor TileLang."""
