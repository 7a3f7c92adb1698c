using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["private", "local"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "bundle.js")],
  compatibilityDate = "2026-11-01",
  bindings = [
    (name = "NUTRITION_ADVISOR_BASE_URL", fromEnvironment = "NUTRITION_ADVISOR_BASE_URL"),
    (name = "NUTRITION_ADVISOR_LICENSE_KEY", fromEnvironment = "NUTRITION_ADVISOR_LICENSE_KEY"),
    (name = "SIMULATOR", fromEnvironment = "SIMULATOR")
  ]
);
