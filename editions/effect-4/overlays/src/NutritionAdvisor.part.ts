/** In Effect 4, a reference has to be in the context that the layer provides. */
const redactingServiceId = ({ serviceIdHeader }: Settings.DataSettings) => {
  const withServiceId = (names: ReadonlyArray<string | RegExp>) =>
    names.includes(serviceIdHeader) ? names : [...names, serviceIdHeader]
  return <I, E, R>(context: Effect.Effect<Context.Context<I>, E, R>): Effect.Effect<Context.Context<I>, E, R> =>
    Effect.zipWith(
      context,
      Headers.CurrentRedactedNames,
      (context, names) => Context.add(context, Headers.CurrentRedactedNames, withServiceId(names))
    )
}
