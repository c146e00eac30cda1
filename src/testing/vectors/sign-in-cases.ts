import { expect, test } from 'vitest'
import * as v from 'valibot'
import { checksumAddress } from '#contract/address.ts'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import { signInMessage } from '#contract/sign-in-message.ts'
import { isSigned } from '#bff/session/challenge.ts'

export const Messages = v.record(v.string(), v.object({ message: v.string() }))
export const Refused = v.record(v.string(), v.string())
export const Verified = v.record(
  v.string(),
  v.object({
    domain: v.string(),
    address: v.string(),
    statement: v.string(),
    uri: v.string(),
    version: v.string(),
    chainId: v.number(),
    nonce: v.string(),
    issuedAt: v.string(),
    expirationTime: v.optional(v.string()),
    notBefore: v.optional(v.string()),
    signature: v.string(),
  }),
)

type Signed = v.InferOutput<typeof Verified>[string]

export type SignInCases = {
  positive: v.InferOutput<typeof Messages>
  negative: v.InferOutput<typeof Refused>
  verified: Record<'positive' | 'negative', v.InferOutput<typeof Verified>>
}

const TIME = String.raw`(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))`
const URI = String.raw`[a-zA-Z][a-zA-Z0-9+.-]*:[\w.~!$&'()*+,;=:@%/?#[\]-]*`
/** ERC-4361, part "Informal Message Template", with the rules of RFC 3986 for the authority. */
const GRAMMAR = new RegExp(
  [
    String.raw`^(?:[a-zA-Z][a-zA-Z0-9+.-]*://)?(?:[\w.~!$&'()*+,;=:%-]*@)?(?:\[[0-9a-fA-F:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)? wants you to sign in with your Ethereum account:`,
    String.raw`(0x[0-9a-fA-F]{40})`,
    String.raw`(?:\n[^\n]+)?`,
    String.raw`\nURI: ${URI}`,
    'Version: 1',
    String.raw`Chain ID: \d+`,
    'Nonce: [a-zA-Z0-9]{8,}',
    String.raw`Issued At: ${TIME}(?:\nExpiration Time: ${TIME})?(?:\nNot Before: ${TIME})?(?:\nRequest ID: [\w.~!$&'()*+,;=:@%-]*)?(?:\nResources:(?:\n- ${URI})*)?$`,
  ].join('\n'),
)

const OURS = {
  network: 'eip155:8453',
  statement: 'Sign in to see your payments. This moves no money and costs nothing.',
  nonce: '0123456789abcdef0123456789abcdef',
  issuedAt: new Date('2026-11-21T10:00:00Z'),
  expiresAt: new Date('2026-11-21T10:05:00Z'),
  requestId: 'sic_4XpYsFq1M9oNnE2JcTtGvB',
}

/**
 * Our sign-in with every message and signature.
 * @param suite.notSigned the cases whose signature is not over the message they stand with. The other negative ones are real signatures over a message that is too old, for another domain, or malformed.
 * @param suite.checksum whether the messages of the suite have addresses with a checksum, as ERC-4361 has asked since
 */
export function testSignIn(
  cases: SignInCases,
  suite: { counts: number[]; notSigned: readonly string[]; checksum: boolean },
) {
  const positive = Object.entries(cases.positive)
  const negative = Object.entries(cases.negative)
  const signed = (['positive', 'negative'] as const).flatMap((kind) =>
    Object.entries(cases.verified[kind]).map(([name, fields]) => ({
      ...fields,
      name: `${kind}: ${name}`,
    })),
  )
  const isMessage = (text: string) => {
    const address = GRAMMAR.exec(text)?.[1]
    return address !== undefined && (!suite.checksum || checksumAddress(address) === address)
  }

  test('the suites are whole', () => {
    expect([positive.length, negative.length, signed.length]).toEqual(suite.counts)
  })

  test.each(positive)('the grammar of this test reads %s', (_, { message }) => {
    expect(isMessage(message)).toBe(true)
  })

  test.each(negative)('the grammar of this test refuses: %s', (_, message) => {
    expect(isMessage(message)).toBe(false)
  })

  test.each(['https://pay.example.com', 'http://localhost:4173', 'https://[2001:db8::1]:8443'])(
    'the text that we give to a wallet on %s is a message of ERC-4361',
    (origin) => {
      const wallet = '0x9D85ca56217D2bb651b00f15e694EB7E713637D4'
      expect(isMessage(signInMessage({ ...OURS, origin, wallet }))).toBe(true)
    },
  )

  test('a message that somebody brings is no part of a sign-in', () => {
    const { body } = browserEndpoints.sessionCreate
    const answer = { id: OURS.requestId, signature: '0x' }
    for (const message of [
      ...positive.map(([, each]) => each.message),
      ...negative.map(([, each]) => each),
    ])
      expect(v.safeParse(body, { ...answer, message }).success).toBe(false)
  })

  test.each(signed)('$name: its signature is over its own message and never over ours', (each) => {
    const { address, uri, signature, name } = each
    expect(isSigned(address, messageOf(each), signature)).toBe(!suite.notSigned.includes(name))
    for (const origin of [uri, 'https://pay.example.com'])
      expect(
        isSigned(address, signInMessage({ ...OURS, origin, wallet: address }), signature),
      ).toBe(false)
    // Nothing but the nonce, which only we know before, tells ours from theirs: that alone is enough.
    expect(isSigned(address, messageOf({ ...each, nonce: OURS.nonce }), signature)).toBe(false)
  })
}

function messageOf(fields: Omit<Signed, 'signature'>): string {
  return [
    `${fields.domain} wants you to sign in with your Ethereum account:`,
    fields.address,
    '',
    fields.statement,
    '',
    `URI: ${fields.uri}`,
    `Version: ${fields.version}`,
    `Chain ID: ${fields.chainId}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt}`,
    ...(fields.expirationTime ? [`Expiration Time: ${fields.expirationTime}`] : []),
    ...(fields.notBefore ? [`Not Before: ${fields.notBefore}`] : []),
  ].join('\n')
}
