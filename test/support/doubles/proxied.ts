/** Wraps an object in a Proxy, as some libraries wrap a Response or a form. Its methods still work. */
export const proxied = <T extends object>(object: T): T =>
  new Proxy(object, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) : value
    }
  })
