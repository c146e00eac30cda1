import {
  notRefusedFor,
  refused,
  single,
  wrong,
  type ConformanceLine,
  receive,
  SOLANA_ADDRESS,
  omitField,
} from './line.ts'
import type { ProbeRequest } from './probe.ts'

const PATHS = { hosted: '/payment/receive', local: '/transaction/receive' } as const
type Mode = keyof typeof PATHS

/** Section 2, receipt verification request, and the codes of section 7 that belong to it. */
export const receiveLines: ConformanceLine[] = [
  ...commonLines('hosted'),
  ...commonLines('local'),
  ...differences(),
]

type Row = Pick<ConformanceLine, 'requirement'> & {
  name: string
  body: Record<string, unknown>
} & Pick<Parameters<typeof single>[0], 'expected' | 'check'>

function lineOf(mode: Mode, { name, body, ...row }: Row): ConformanceLine {
  const request: ProbeRequest = { method: 'POST', path: PATHS[mode], body }
  return single({
    id: `2 ${mode} receive ${name}`,
    endpoint: `POST ${PATHS[mode]}`,
    input: request,
    ...row,
  })
}

function commonLines(mode: Mode): ConformanceLine[] {
  const rows: Row[] = [
    {
      name: 'walletAddress required',
      requirement: 'The receiving address is required',
      body: omitField(receive, 'walletAddress'),
      ...wrong('walletAddress'),
    },
    {
      name: 'paymentProof required',
      requirement: 'The proof is required',
      body: omitField(receive, 'paymentProof'),
      ...wrong('paymentProof'),
    },
    {
      name: 'expectedAmount required',
      requirement: 'The expected amount is required',
      body: omitField(receive, 'expectedAmount'),
      ...wrong('expectedAmount'),
    },
    {
      name: 'expectedAmount number',
      requirement: 'The expected amount is a number',
      body: { ...receive, expectedAmount: '1' },
      ...wrong('expectedAmount'),
    },
    {
      name: 'resource text',
      requirement: 'The resource is a URL in a text',
      body: { ...receive, resource: 42 },
      ...wrong('resource'),
    },
    {
      name: 'resource optional',
      requirement: 'A resource may be named',
      body: { ...receive, resource: 'https://shop.example/a' },
      ...notRefusedFor('resource'),
    },
    {
      name: 'walletAddress solana',
      requirement: 'The receiving address may have Solana format',
      body: { ...receive, walletAddress: SOLANA_ADDRESS },
      ...notRefusedFor('walletAddress'),
    },
    {
      name: 'misspelt field',
      requirement: 'A field that is not specified is refused and named',
      body: { ...receive, expectedAmmount: 1 },
      ...wrong('expectedAmmount'),
    },
    {
      name: 'facilitatorUrl text',
      requirement: "The facilitator's address is a text",
      body: { ...receive, facilitatorUrl: 42 },
      ...wrong('facilitatorUrl'),
    },
    {
      name: 'proof invalid',
      requirement: 'An invalid proof has a distinct code',
      body: receive,
      ...refused(400, 'INVALID_PAYMENT_PROOF'),
    },
    {
      name: 'proof no base64',
      requirement: 'Text that no X-PAYMENT header holds is a proof that is not valid',
      body: { ...receive, paymentProof: '%%%' },
      ...refused(400, 'INVALID_PAYMENT_PROOF'),
    },
  ]
  return rows.map((row) => lineOf(mode, row))
}

function differences(): ConformanceLine[] {
  return [
    lineOf('hosted', {
      name: 'timeout',
      requirement: 'Hosted: a timeout in seconds is taken',
      body: { ...receive, timeout: 30 },
      ...notRefusedFor('timeout'),
    }),
    lineOf('hosted', {
      name: 'timeout number',
      requirement: 'Hosted: the timeout is a number',
      body: { ...receive, timeout: 'long' },
      ...wrong('timeout'),
    }),
    lineOf('hosted', {
      name: 'no priorityFee',
      requirement: 'Hosted: there is no priority fee',
      body: { ...receive, priorityFee: 0.001 },
      ...wrong('priorityFee'),
    }),
    lineOf('local', {
      name: 'priorityFee',
      requirement: 'Local: a priority fee is taken',
      body: { ...receive, priorityFee: 0.001 },
      ...notRefusedFor('priorityFee'),
    }),
    lineOf('local', {
      name: 'no timeout',
      requirement: 'Local: there is no timeout',
      body: { ...receive, timeout: 30 },
      ...wrong('timeout'),
    }),
  ]
}
