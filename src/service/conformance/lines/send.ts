import {
  notRefusedFor,
  refused,
  single,
  wrong,
  type LineFacts,
  type ConformanceLine,
  send,
  OTHER_SOLANA_ADDRESS,
  SOLANA_ADDRESS,
  omitField,
} from './line.ts'
import type { ProbeRequest } from './probe.ts'

const PATHS = { hosted: '/payment/send', local: '/transaction/send' } as const
type Mode = keyof typeof PATHS

/** Section 2, payment request: what both modes ask for, then where they differ. */
export const sendLines: ConformanceLine[] = [
  ...commonLines('hosted'),
  ...commonLines('local'),
  ...hostedLines(),
  ...localLines(),
]

type Row = Pick<ConformanceLine, 'requirement'> & {
  name: string
  body: Record<string, unknown>
} & Pick<Parameters<typeof single>[0], 'expected' | 'check'>

function lineOf(mode: Mode, { name, body, ...row }: Row): ConformanceLine {
  const request: ProbeRequest = { method: 'POST', path: PATHS[mode], body }
  return single({
    id: `2 ${mode} ${name}`,
    endpoint: `POST ${PATHS[mode]}`,
    input: request,
    ...row,
  })
}

function commonLines(mode: Mode): ConformanceLine[] {
  const rows: Row[] = [
    {
      name: 'walletAddress required',
      requirement: "The payer's address is required",
      body: omitField(send, 'walletAddress'),
      ...wrong('walletAddress'),
    },
    {
      name: 'recipientAddress required',
      requirement: "The recipient's address is required",
      body: omitField(send, 'recipientAddress'),
      ...wrong('recipientAddress'),
    },
    {
      name: 'amount required',
      requirement: 'The amount is required',
      body: omitField(send, 'amount'),
      ...wrong('amount'),
    },
    {
      name: 'walletAddress format',
      requirement: "The payer's address is one of EVM or Solana",
      body: { ...send, walletAddress: 'bob' },
      ...wrong('walletAddress'),
    },
    {
      name: 'amount number',
      requirement: 'The amount is a number, not a text',
      body: { ...send, amount: '0.01' },
      ...wrong('amount'),
    },
    {
      name: 'amount positive',
      requirement: 'An amount of nothing is no payment',
      body: { ...send, amount: 0 },
      ...wrong('amount'),
    },
    {
      name: 'resource text',
      requirement: 'The resource is a URL in a text',
      body: { ...send, resource: 42 },
      ...wrong('resource'),
    },
    {
      name: 'resource optional',
      requirement: 'A resource may be named',
      body: { ...send, resource: 'https://shop.example/a' },
      ...notRefusedFor('resource'),
    },
    {
      name: 'metadata object',
      requirement: 'Metadata is an object',
      body: { ...send, metadata: ['x'] },
      ...wrong('metadata'),
    },
    {
      name: 'metadata free-form',
      requirement: 'Metadata is free-form',
      body: { ...send, metadata: { description: 'tea', order: { id: 7, lines: [1, 2] } } },
      ...notRefusedFor('metadata'),
    },
    {
      name: 'no private key',
      requirement: 'Private keys never reach the service: no field takes one',
      body: { ...send, privateKey: `0x${'1'.repeat(64)}` },
      ...wrong('privateKey'),
    },
    {
      name: 'misspelt field',
      requirement: 'A field that is not specified is refused and named',
      body: { ...send, ammount: 1 },
      ...wrong('ammount'),
    },
    {
      name: 'priorityFee number',
      requirement: 'The priority fee is a number',
      body: { ...send, priorityFee: 'fast' },
      ...wrong('priorityFee'),
    },
  ]
  return [...rows.map((row) => lineOf(mode, row)), invalidRecipient(mode)]
}

/** Hosted payments are only made from managed wallets, so that is asked with one. */
function invalidRecipient(mode: Mode): ConformanceLine {
  return single({
    id: `2 ${mode} recipient invalid`,
    requirement: 'An invalid recipient has a distinct code',
    endpoint: `POST ${PATHS[mode]}`,
    input: ({ managedWallet }) => {
      if (mode === 'hosted' && managedWallet === undefined) return 'it takes --managed-wallet'
      return {
        method: 'POST',
        path: PATHS[mode],
        body: {
          ...send,
          walletAddress: managedWallet ?? send.walletAddress,
          recipientAddress: 'bob',
        },
      }
    },
    ...refused(400, 'INVALID_RECIPIENT'),
  })
}

function hostedLines(): ConformanceLine[] {
  const rows: Row[] = [
    {
      name: 'amount below',
      requirement: 'Hosted: less than 0.001 is refused',
      body: { ...send, amount: 0.000999 },
      ...wrong('amount'),
    },
    {
      name: 'amount least',
      requirement: 'Hosted: 0.001 is allowed',
      body: { ...send, amount: 0.001 },
      ...notRefusedFor('amount'),
    },
    {
      name: 'amount most',
      requirement: 'Hosted: 100 is allowed',
      body: { ...send, amount: 100 },
      ...notRefusedFor('amount'),
    },
    {
      name: 'amount above',
      requirement: 'Hosted: more than 100 is refused',
      body: { ...send, amount: 100.000001 },
      ...wrong('amount'),
    },
    {
      name: 'priorityFee below',
      requirement: 'Hosted: a fee under 0.00001 is refused',
      body: { ...send, priorityFee: 0.000009 },
      ...wrong('priorityFee'),
    },
    {
      name: 'priorityFee least',
      requirement: 'Hosted: a fee of 0.00001 is allowed',
      body: { ...send, priorityFee: 0.00001 },
      ...notRefusedFor('priorityFee'),
    },
    {
      name: 'priorityFee most',
      requirement: 'Hosted: a fee of 0.01 is allowed',
      body: { ...send, priorityFee: 0.01 },
      ...notRefusedFor('priorityFee'),
    },
    {
      name: 'priorityFee above',
      requirement: 'Hosted: a fee over 0.01 is refused',
      body: { ...send, priorityFee: 0.010001 },
      ...wrong('priorityFee'),
    },
  ]
  return rows.map((row) => lineOf('hosted', row))
}

function localLines(): ConformanceLine[] {
  const rows: Row[] = [
    {
      name: 'amount small',
      requirement: 'Local: no least amount is stated',
      body: { ...send, amount: 0.0000001 },
      ...notRefusedFor('amount'),
    },
    {
      name: 'amount large',
      requirement: 'Local: no largest amount is stated',
      body: { ...send, amount: 101 },
      ...notRefusedFor('amount'),
    },
    {
      name: 'walletAddress evm',
      requirement: 'Addresses in EVM format are taken',
      body: send,
      ...notRefusedFor('walletAddress'),
    },
    {
      name: 'walletAddress solana',
      requirement: 'Addresses in Solana format are taken',
      body: { ...send, walletAddress: SOLANA_ADDRESS, recipientAddress: OTHER_SOLANA_ADDRESS },
      ...notRefusedFor('walletAddress'),
    },
    {
      name: 'families',
      requirement: 'Payer and recipient are on the same chain',
      body: { ...send, recipientAddress: SOLANA_ADDRESS },
      ...refused(400, 'INVALID_RECIPIENT'),
    },
  ]
  return [
    ...rows.map((row) => lineOf('local', row)),
    single({
      id: '7 local INSUFFICIENT_BALANCE',
      requirement: 'Too little balance for amount and fees has a distinct code',
      endpoint: 'POST /transaction/send',
      input: (facts: LineFacts) =>
        facts.wallet === undefined
          ? 'it takes --wallet'
          : {
              method: 'POST',
              path: PATHS.local,
              body: {
                walletAddress: facts.wallet,
                recipientAddress: facts.recipient,
                amount: 1_000_000_000,
              },
            },
      ...refused(400, 'INSUFFICIENT_BALANCE'),
    }),
  ]
}
