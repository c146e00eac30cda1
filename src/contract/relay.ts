import * as v from 'valibot'
import { boundedText } from './fields.ts'

/** A request that the proxy makes for a browser, because another site's CORS hides its answers from pages. */

export const RELAY_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export const MAX_RELAYED_HEADERS = 24
/** The largest answer that is passed on, in bytes. */
export const MAX_RELAYED_BYTES = 512 * 1024

const headerName = v.pipe(
  v.string(),
  v.regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/, 'Expected a header’s name.'),
)
const headerValue = v.pipe(
  v.string(),
  v.regex(/^[\x20-\x7e\t]{0,8192}$/, 'Expected at most 8192 printable ASCII characters.'),
)

export const RelayInput = v.strictObject({
  method: v.picklist(RELAY_METHODS),
  url: v.pipe(
    boundedText(2048),
    v.check(
      (text) => URL.canParse(text),
      'Expected an address such as https://example.org/article.',
    ),
  ),
  headers: v.pipe(
    v.array(v.strictTuple([headerName, headerValue])),
    v.maxLength(MAX_RELAYED_HEADERS, `Expected at most ${MAX_RELAYED_HEADERS} headers.`),
  ),
  /** Sent as UTF-8. */
  body: v.optional(boundedText(32_768)),
})
export type RelayInput = v.InferOutput<typeof RelayInput>

export const RelayReply = v.variant('answered', [
  v.object({
    answered: v.literal(true),
    status: v.number(),
    headers: v.array(v.tuple([v.string(), v.string()])),
    /** Base64. */
    body: v.string(),
  }),
  /** One answer for every cause: it cannot be reached, took too long, is too large, or is not public. */
  v.object({ answered: v.literal(false) }),
])
export type RelayReply = v.InferOutput<typeof RelayReply>
