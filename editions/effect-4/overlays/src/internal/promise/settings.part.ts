import * as ConfigProvider from "effect/ConfigProvider"

/** The provider that Effect 4 has by default keeps the variables of its first use. */
const ofVariables = () =>
  Effect.suspend(() => Environment.makeFrom({}, Environment.advisor(), checked)).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv())
  )
