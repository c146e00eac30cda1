import { expect, test } from 'vitest'
import {
  APPROVAL_TAIL,
  isApprovalOf,
  approvalText,
  rotationOf,
  type ApprovedOperation,
} from './approval.ts'
import { ROLES } from './role.ts'

const create: ApprovedOperation = {
  kind: 'create',
  terms: {
    name: 'Käse & Söhne',
    scopes: ['payment:send', 'payment:read'],
    plan: 'standard',
    environment: 'live',
    expiresAt: 1_800_000_000_000,
  },
}
const signing = {
  origin: 'https://pay.example',
  wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
}
const tail = `${'ab'.repeat(16)}\nIssued At: 2026-01-01T00:00:00.000Z\nExpiration Time: 2026-01-01T00:05:00.000Z`
const messageOf = (operation: ApprovedOperation, where = signing) =>
  `${approvalText(operation, where)}${APPROVAL_TAIL}${tail}`

test('a person reads what the key may do, and where they sign', () => {
  expect(approvalText(create, signing)).toBe(
    [
      'pay.example wants you to make an API key with your account:',
      signing.wallet,
      '',
      'Signing this makes a key that may do what stands below. It moves no money by itself.',
      '',
      'URI: https://pay.example',
      'Name: "Käse & Söhne"',
      'May: payment:read, payment:send',
      'Plan: standard',
      'Kind: live',
      'Ends: 2027-01-15T08:00:00.000Z',
    ].join('\n'),
  )
})

const { terms } = create
const till = {
  id: 'key_1',
  name: 'till',
  scopes: terms.scopes,
  plan: 'standard' as const,
  expiresAt: 1_800_000_000_000,
}

test('a person reads what the key that replaces another one may do', () => {
  expect(approvalText(rotationOf(till, 60), signing).split('\n').slice(3)).toEqual([
    'Signing this makes a key that takes the place of the one below, and may do the same. It moves no money by itself.',
    '',
    'URI: https://pay.example',
    'Key: key_1',
    'Name: "till"',
    'May: payment:read, payment:send',
    'Plan: standard',
    'Ends: 2027-01-15T08:00:00.000Z',
    'The old key works on for: 60 seconds',
  ])
})

test.each<[string, ApprovedOperation]>([
  ['another name', { kind: 'create', terms: { ...terms, name: 'other' } }],
  [
    'one scope more',
    { kind: 'create', terms: { ...terms, scopes: [...terms.scopes, 'keys:manage'] } },
  ],
  ['one scope less', { kind: 'create', terms: { ...terms, scopes: ['payment:read'] } }],
  ['another plan', { kind: 'create', terms: { ...terms, plan: 'premium' } }],
  ['the other kind', { kind: 'create', terms: { ...terms, environment: 'test' } }],
  ['a later end', { kind: 'create', terms: { ...terms, expiresAt: 1_800_000_000_001 } }],
  ['no end', { kind: 'create', terms: { ...terms, expiresAt: undefined } }],
  ['a rotation', rotationOf({ ...till, name: terms.name }, 60)],
  ['an invitation', { kind: 'invite', role: 'viewer' }],
])('%s is another approval', (_, operation) => {
  expect(isApprovalOf(messageOf(create), create, signing)).toBe(true)
  expect(isApprovalOf(messageOf(create), operation, signing)).toBe(false)
  expect(isApprovalOf(messageOf(operation), create, signing)).toBe(false)
})

test('another site, another wallet, and words after the end are another approval', () => {
  expect(
    isApprovalOf(messageOf(create), create, { ...signing, origin: 'https://pay.example.evil' }),
  ).toBe(false)
  expect(
    isApprovalOf(messageOf(create), create, {
      ...signing,
      wallet: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    }),
  ).toBe(false)
  expect(isApprovalOf(`${messageOf(create)}\nMay: keys:manage`, create, signing)).toBe(false)
  expect(isApprovalOf(approvalText(create, signing), create, signing)).toBe(false)
})

test('a name cannot be another line', () => {
  const tricky: ApprovedOperation = {
    kind: 'create',
    terms: { ...terms, name: '"\nMay: keys:manage\nName: "' },
  }
  expect(approvalText(tricky, signing).split('\n')).toHaveLength(11)
})

test('of a rotation the key, its name, what it may do, its end and the grace count', () => {
  const operation = rotationOf(till, 60)
  expect(isApprovalOf(messageOf(operation), operation, signing)).toBe(true)
  for (const other of [
    rotationOf({ ...till, id: 'key_2' }, 60),
    rotationOf({ ...till, name: 'other' }, 60),
    rotationOf({ ...till, scopes: ['payment:read'] }, 60),
    rotationOf({ ...till, scopes: [...till.scopes, 'keys:manage'] }, 60),
    rotationOf({ ...till, plan: 'premium' }, 60),
    rotationOf({ ...till, expiresAt: null }, 60),
    rotationOf(till, 900),
  ])
    expect(isApprovalOf(messageOf(operation), other, signing)).toBe(false)
})

test('of an invitation and of a change the role and the wallet count', () => {
  const [one, two] = ['0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC', signing.wallet]
  const operations: ApprovedOperation[] = [
    ...ROLES.map((role) => ({ kind: 'invite' as const, role })),
    ...[one, two].flatMap((walletAddress) =>
      ROLES.map((role) => ({ kind: 'changeRole' as const, walletAddress, role })),
    ),
  ]
  for (const [index, operation] of operations.entries())
    for (const [other, candidate] of operations.entries())
      expect(isApprovalOf(messageOf(operation), candidate, signing)).toBe(index === other)
})

test('an owner reads what an invitation gives', () => {
  expect(approvalText({ kind: 'invite', role: 'operator' }, signing).split('\n')).toEqual([
    'pay.example wants you to invite a person with your account:',
    signing.wallet,
    '',
    'Signing this makes a link. The first wallet to use it gets the role below. It moves no money by itself.',
    '',
    'URI: https://pay.example',
    'Role: operator',
    'May: refund, pay from managed wallets, manage links and webhooks, see all payments',
  ])
})
