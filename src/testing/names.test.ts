import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from '@babel/parser'
import { expect, test } from 'vitest'

/**
 * The names of files, folders, exports, tables and columns: one word for one thing, the word of the
 * field. A word stands for itself in any spelling (`nonceLane`, `nonce-lane`, `nonce_lane`).
 */

const ROOT = join(import.meta.dirname, '../..')

/** Words that no name has, and what to say instead. */
const WORDS: Record<string, string> = {
  lane: 'nonceQueue, nonceSlot',
  books: 'walletLedger, reconcile',
  spent: 'outflows',
  kept: 'persisted',
  doubt: 'recoverCommit, uncertain',
  follow: 'monitor, poll',
  followed: 'monitored',
  wake: 'notify',
  beat: 'heartbeat',
  wish: 'PaymentIntent, CheckoutForm',
  wanted: 'PaymentIntent, CheckoutForm',
  asked: 'PaymentIntent, CheckoutForm',
  deed: 'operation',
  trouble: 'UserError, errorMessages',
  told: 'format…, render…',
  say: 'format…, render…',
  says: 'format…, render…',
  spell: 'format…, render…',
  tell: 'format…, render…',
  judge: 'verify, validate',
  judged: 'verified, validated',
  examine: 'verify',
  examined: 'verified',
  rehearse: 'simulate',
  rehearsal: 'simulation',
  checklist: 'VerificationReport',
  hold: 'claim, lease',
  held: 'claimed',
  sponsor: 'feePayer',
  truth: 'onChainVerification',
  offer: 'paymentOption',
  ask: 'request',
  visit: 'purchase, resourceRequest',
  stack: 'walletAdapter',
  outside: 'dependencies',
  desk: 'fixture; in the interface: merchant, dashboard',
  stage: 'harness',
  storm: 'stressTest',
  dice: 'rng',
  sheet: 'approvalDialog',
  bill: 'invoice',
}
/** Names that are wrong as a whole, though their words are not. */
const NAMES = [
  /^(takePlace|Place|turnPage|keep|push|pushAgain|signAgain|seeThrough|look|Paid|Terms)$/,
  /^(grantOnce|sendBack|answer|answers|Answer|Landed|Question|Outcome|Verdict)$/,
  // Files that are named after an adverb tell nobody what is in them.
  /^(for-ever|one-by-one|as-own|in-one|see-through|lack-of)$/,
]
/** Terms of other specifications. */
const TERMS = [/^OFFER_PROOF_TYPES$/, /^offerProofTypedData$/]

function wrong(name: string): string[] {
  if (TERMS.some((term) => term.test(name))) return []
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .flatMap((part) => part.split(' '))
    .map((word) => word.toLowerCase())
  const found = words.flatMap((word) => (WORDS[word] ? [`${name}: say ${WORDS[word]}`] : []))
  return NAMES.some((pattern) => pattern.test(name)) ? [...found, `${name} says too little`] : found
}

type Named = { name: string; type: boolean; error: boolean }

function exportsOf(path: string, text: string): Named[] {
  const { program } = parse(text, {
    sourceType: 'module',
    plugins: path.endsWith('x') ? ['typescript', 'jsx'] : ['typescript'],
  })
  return program.body.flatMap((statement): Named[] => {
    if (statement.type !== 'ExportNamedDeclaration' || !statement.declaration) return []
    const { declaration } = statement
    if (declaration.type === 'VariableDeclaration')
      return declaration.declarations.flatMap(({ id }) =>
        id.type === 'Identifier' ? [{ name: id.name, type: false, error: false }] : [],
      )
    if (!('id' in declaration) || declaration.id?.type !== 'Identifier') return []
    const parent = declaration.type === 'ClassDeclaration' ? declaration.superClass : undefined
    return [
      {
        name: declaration.id.name,
        type: declaration.type !== 'FunctionDeclaration',
        error: parent?.type === 'Identifier' && parent.name.endsWith('Error'),
      },
    ]
  })
}

const tracked = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', 'src', 'e2e', 'bench'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => /\.(ts|tsx|mjs)$/.test(path))
const files = await Promise.all(
  tracked.map(async (path) => {
    const text = await readFile(join(ROOT, path), 'utf8').catch(() => '')
    return { path, text, named: exportsOf(path, text) }
  }),
)

test('every file, folder and export has the name that the field uses', () => {
  const parts = new Set(tracked.flatMap((path) => path.replace(/(\.\w+)+$/, '').split('/')))
  const names = new Set(files.flatMap(({ named }) => named.map(({ name }) => name)))
  expect(parts.size).toBeGreaterThan(500)
  expect(names.size).toBeGreaterThan(2_000)
  expect([...parts, ...names].flatMap(wrong)).toEqual([])
})

test('no two exported types have one name', () => {
  const places = new Map<string, Set<string>>()
  for (const { path, named } of files)
    for (const { name, type } of named)
      if (type) places.set(name, (places.get(name) ?? new Set()).add(path))
  expect([...places].filter(([, paths]) => paths.size > 1)).toEqual([])
})

test('every error class is called an error', () => {
  const errors = files.flatMap(({ named }) => named.filter(({ error }) => error))
  expect(errors.length).toBeGreaterThan(20)
  expect(errors.filter(({ name }) => !name.endsWith('Error'))).toEqual([])
})

test('every table, column and index has the name that the field uses', () => {
  const names = files
    .filter(({ path }) => /^src\/(service\/db\/schema\/|bff\/db\/schema)/.test(path))
    .flatMap(({ text }) => [...text.matchAll(/'([a-z][a-z_]*)'/g)].map(([, name = '']) => name))
  expect(names.length).toBeGreaterThan(100)
  expect(names.flatMap(wrong)).toEqual([])
})

test.each([
  ['lockLane', 'nonceQueue'],
  ['wallet_books', 'walletLedger'],
  ['follow-hosted', 'monitor'],
  ['examineMemo', 'verify'],
  ['OfferCard', 'paymentOption'],
  ['Outcome', 'too little'],
  ['one-by-one', 'too little'],
])('finds what is wrong with %s', (name, said) => {
  expect(wrong(name).join()).toContain(said)
})
