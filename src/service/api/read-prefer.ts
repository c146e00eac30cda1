const LONGEST_WAIT_S = 60
const USUAL_WAIT_S = 15

/** How long an answer may wait, from the header `Prefer` (RFC 7240): `respond-async` or `wait=<seconds>`. What is not understood is ignored, as it says there. */
export function readWaitMs(prefer: string | undefined): number {
  const preferences = (prefer ?? '').split(',').map((preference) => preference.trim().toLowerCase())
  const wait = preferences
    .flatMap((preference) => /^wait *= *"?([0-9]{1,6})"?$/.exec(preference)?.[1] ?? [])
    .at(0)
  if (wait !== undefined) return Math.min(Number(wait), LONGEST_WAIT_S) * 1000
  return preferences.includes('respond-async') ? 0 : USUAL_WAIT_S * 1000
}
