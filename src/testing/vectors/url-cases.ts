import { isIP, isIPv4 } from 'node:net'
import { expect, test } from 'vitest'
import * as v from 'valibot'
import { resource } from '#contract/fields.ts'
import { refuseUrl } from '#egress/public-address.ts'

/** The data of the WHATWG; a text in the list is a comment. */
export const UrlCases = v.array(
  v.union([
    v.pipe(
      v.string(),
      v.transform(() => null),
    ),
    v.object({
      input: v.string(),
      base: v.nullish(v.string()),
      failure: v.optional(v.literal(true)),
      protocol: v.optional(v.string()),
      hostname: v.optional(v.string()),
    }),
  ]),
)

/** Another reading of "not public" than the one under test: by the first digits. */
const PRIVATE_V4 =
  /^(0|10|127|169\.254|192\.168|192\.0\.[02]|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|172\.(1[6-9]|2\d|3[01])|198\.(1[89]|51\.100)|203\.0\.113|2(2[4-9]|[345]\d))\./
const PUBLIC_V6 = /^[23][0-9a-f]{3}:/

/** Labels that the standard refuses and Node 24 accepts: they name no host that exists. */
const LENIENT_PLATFORM = /\.xn--pokxncvks$|^https:\/\/xn--\/$/i

/** The URL where the rule for outgoing requests allows it. */
function read(input: string, base?: string | null): URL | undefined {
  const url = URL.canParse(input, base ?? undefined) ? new URL(input, base ?? undefined) : undefined
  return url && refuseUrl(url, false) === undefined ? url : undefined
}

/** The egress rule and the field `resource` with every case; `allowed`: how many the rule lets through. */
export function testUrls(
  data: v.InferOutput<typeof UrlCases>,
  { count, allowed }: { count: number; allowed: number },
): void {
  const cases = data.flatMap((each, index) =>
    each === null ? [] : [{ ...each, name: `${index} ${JSON.stringify(each.input.slice(0, 60))}` }],
  )

  test('the suite is whole, and some of it is allowed', () => {
    expect(cases).toHaveLength(count)
    expect(cases.filter(({ input, base }) => read(input, base))).toHaveLength(allowed)
  })

  test.each(cases)('$name leads to no private address', ({ input, base, failure, hostname }) => {
    // The host is what counts: each is also asked for over https without a port or a user.
    const asWritten = read(input, base)
    if (asWritten && !LENIENT_PLATFORM.test(input)) {
      expect(failure).toBeUndefined()
      expect(asWritten.hostname).toBe(hostname)
    }
    const byHost = hostname ? read(`https://${hostname}/`) : undefined
    for (const url of [asWritten, byHost].filter((each) => each !== undefined)) {
      expect(url.protocol).toBe('https:')
      expect([url.port, url.username, url.password]).toEqual(['', '', ''])
      const host = url.hostname.replaceAll(/[[\]]/g, '')
      if (isIPv4(host)) expect(host).not.toMatch(PRIVATE_V4)
      else if (isIP(host) === 6) expect(host).toMatch(PUBLIC_V6)
    }
  })

  test.each(cases.filter(({ base }) => !base))(
    '$name as the resource of a payment is an http URL, or refused',
    ({ input, failure, protocol }) => {
      const result = v.safeParse(resource, input)
      if (result.success && !LENIENT_PLATFORM.test(input)) {
        expect(failure).toBeUndefined()
        expect(protocol).toMatch(/^https?:$/)
        expect(result.output).toBe(input)
      }
      if (!result.success)
        expect(result.issues[0].message).toMatch(
          /^Expected (an absolute http or https URL|text without a NUL character)\.$/,
        )
    },
  )
}
