import { Cause, type Exit, Option, Predicate } from "effect"

/** How a call ended: "Success", "Interrupted", its error by tag and reason, or its defect. */
export const describeExit = (exit: Exit.Exit<unknown, unknown>): string => {
  if (exit._tag === "Success") return "Success"
  if (Cause.isInterruptedOnly(exit.cause)) return "Interrupted"
  const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (!Predicate.hasProperty(error, "_tag")) return Cause.pretty(exit.cause)
  return Predicate.hasProperty(error, "reason") ? `${error._tag} ${error.reason}` : String(error._tag)
}
