import {
  checkLine,
  refused,
  single,
  succeeded,
  type LineFinding,
  type ConformanceLine,
  EVM_ADDRESS,
  NATIVE_EVM,
  receive,
  send,
  UNKNOWN_PAYMENT,
} from './line.ts'
import type { ProbeRequest, Probe } from './probe.ts'

const history: ProbeRequest = { method: 'GET', path: `/payment/history/${EVM_ADDRESS}` }
const HISTORY = 'GET /payment/history/:walletAddress'
const unauthorized = refused(401, 'UNAUTHORIZED')

const everyEndpoint: { endpoint: string; request: ProbeRequest }[] = [
  {
    endpoint: 'POST /payment/send',
    request: { method: 'POST', path: '/payment/send', body: send },
  },
  {
    endpoint: 'POST /payment/receive',
    request: { method: 'POST', path: '/payment/receive', body: receive },
  },
  {
    endpoint: 'GET /payment/status/:paymentId',
    request: { method: 'GET', path: `/payment/status/${UNKNOWN_PAYMENT}` },
  },
  { endpoint: HISTORY, request: history },
  {
    endpoint: 'POST /transaction/send',
    request: { method: 'POST', path: '/transaction/send', body: send },
  },
  {
    endpoint: 'POST /transaction/receive',
    request: { method: 'POST', path: '/transaction/receive', body: receive },
  },
  {
    endpoint: 'GET /token/info/:mintAddress',
    request: { method: 'GET', path: `/token/info/${NATIVE_EVM}` },
  },
]

/** Section 5: who may ask. */
export const keyLines: ConformanceLine[] = [
  ...everyEndpoint.map(({ endpoint, request }) =>
    single({
      id: `5 key missing: ${endpoint}`,
      requirement: `${endpoint} without a key is refused`,
      endpoint,
      input: { ...request, key: null },
      ...unauthorized,
    }),
  ),
  single({
    id: '5 key invalid',
    requirement: 'A key that is none is refused',
    endpoint: HISTORY,
    input: { ...history, key: 'nonsense' },
    ...unauthorized,
  }),
  single({
    id: '5 bearer',
    requirement:
      'The key is sent in the Authorization header as a Bearer token, nothing else is taken',
    endpoint: HISTORY,
    input: { ...history, authorization: 'Basic bm9uc2Vuc2U=' },
    ...unauthorized,
  }),
  single({
    id: '5 key valid',
    requirement: 'An ordinary request that succeeds shows that the key is valid',
    endpoint: HISTORY,
    input: history,
    ...succeeded('JSON'),
  }),
  single({
    id: '5 test request',
    requirement: 'The token endpoint takes a valid key: it can be used to test one',
    endpoint: 'GET /token/info/:mintAddress',
    input: { method: 'GET', path: `/token/info/${NATIVE_EVM}` },
    expected: '200, or 404 for a token that is not on these networks',
    check: ({ status }) => (status === 200 || status === 404 ? undefined : 'expected 200 or 404'),
  }),
  {
    id: '5 permission',
    requirement:
      'A valid key that lacks permission for an endpoint is refused, and told what it lacks',
    endpoint: HISTORY,
    run: (probe) =>
      withKey(probe, ['token:read'], async ({ key }) => {
        const request = { ...history, key }
        return checkLine(request, await probe.send(request), refused(403, 'FORBIDDEN', 'scope'))
      }),
  },
  {
    id: '5 rotation',
    requirement:
      'A key is replaced by making a new one, going over to it, and deleting the old one',
    endpoint: 'DELETE /api-keys/:id',
    run: (probe) =>
      withKey(probe, ['payment:read'], (old) =>
        withKey(probe, ['payment:read'], async ({ key }) => {
          const both = [
            await probe.send({ ...history, key: old.key }),
            await probe.send({ ...history, key }),
          ].map((answer) => answer.status)
          await probe.send({ method: 'DELETE', path: `/api-keys/${old.id}` })
          const after = [
            await probe.send({ ...history, key: old.key }),
            await probe.send({ ...history, key }),
          ].map((answer) => answer.status)
          const got = `${both.join(', ')}; after deleting the old one ${after.join(', ')}`
          const expected = '200, 200; after deleting the old one 401, 200'
          return {
            request: `GET ${history.path} with the old and the new key`,
            expected,
            got,
            verdict: got === expected ? 'pass' : 'fail',
          }
        }),
      ),
  },
]

/** Runs with a key made for it, and deletes it. */
async function withKey(
  probe: Probe,
  scopes: string[],
  run: (made: { id: string; key: string }) => Promise<LineFinding>,
): Promise<LineFinding> {
  const request: ProbeRequest = {
    method: 'POST',
    path: '/api-keys',
    body: { name: 'conformance', scopes },
  }
  const { status, body } = await probe.send(request)
  if (status !== 200 || typeof body?.key !== 'string' || typeof body.id !== 'string') {
    return {
      request: 'POST /api-keys',
      expected: 'a second key',
      got: `${status}: it takes a key with keys:manage`,
      verdict: 'not asked',
    }
  }
  try {
    return await run({ id: body.id, key: body.key })
  } finally {
    await probe.send({ method: 'DELETE', path: `/api-keys/${body.id}` })
  }
}
