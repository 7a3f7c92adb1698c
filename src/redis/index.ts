export * as RedisTokenCache from "./RedisTokenCache.js"
export * from "./RedisTokenCache.js"
