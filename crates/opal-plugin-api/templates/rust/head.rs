wit_bindgen::generate!({ path: "wit", world: "__WORLD__", generate_all });

