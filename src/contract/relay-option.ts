import * as v from 'valibot'

/** Who may have requests relayed: nobody, sessions with a proven wallet, or every visitor. */
export const RELAY_AUDIENCES = ['off', 'wallets', 'everyone'] as const
export type RelayAudience = (typeof RELAY_AUDIENCES)[number]

/** A protected resource to try the explorer with. */
export const Example = v.object({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(60)),
  url: v.pipe(v.string(), v.maxLength(2048), v.url()),
  description: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
})
export type Example = v.InferOutput<typeof Example>
