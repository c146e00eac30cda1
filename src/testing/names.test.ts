import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from '@babel/parser'
import { expect, test } from 'vitest'

/**
 * The names of files, folders, exports, tables and columns, and every name that production code
 * declares: one word for one thing, the word of the field. A word stands for itself in any spelling
 * (`nonceLane`, `nonce-lane`, `nonce_lane`).
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
  reach: 'openDependencies',
  desk: 'fixture; in the interface: merchant, dashboard',
  stage: 'harness',
  storm: 'stressTest',
  dice: 'rng',
  sheet: 'approvalDialog',
  bill: 'invoice',
  carry: 'execute, broadcast',
  trial: 'simulation',
  tried: 'simulation, attempt',
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

/** Local names that keep a refused word: [name, files, why]. */
const KEPT_NAMES: readonly (readonly [string, RegExp, string])[] = [
  [
    'stack',
    /^src\/(devnet\/network|service\/service|service\/admin\/main)\.ts$/,
    'DisposableStack',
  ],
  ['stack', /^src\/contract\/redact\.ts$/, 'Error.stack'],
  ['askEmail', /^src\/web\/(pages\/links|payment-flow\/form)\//, 'a field of payment links'],
  // Placeholders of translated messages: another name would be another message.
  ['wanted', /^src\/web\/wallet\/(evm|solana)\/simulate\.ts$/, 'a placeholder'],
  ['wanted', /^src\/web\/pages\/explore\/pay\/message-ports\.ts$/, 'a placeholder'],
  ['held', /^src\/web\/payment-flow\/form\/fields\.ts$/, 'a placeholder'],
]

function refusedWords(name: string): string[] {
  if (TERMS.some((term) => term.test(name))) return []
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .flatMap((part) => part.split(' '))
    .map((word) => word.toLowerCase())
  return words.flatMap((word) =>
    Object.hasOwn(WORDS, word) ? [`${name}: say ${WORDS[word]}`] : [],
  )
}

function wrong(name: string): string[] {
  const found = refusedWords(name)
  return NAMES.some((pattern) => pattern.test(name)) ? [...found, `${name} says too little`] : found
}

type Named = { name: string; type: boolean; error: boolean }

type Program = ReturnType<typeof parse>['program']

function parseFile(path: string, text: string): Program {
  return parse(text, {
    sourceType: 'module',
    plugins: path.endsWith('x') ? ['typescript', 'jsx'] : ['typescript'],
  }).program
}

function exportsOf(program: Program): Named[] {
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

type Syntax = { type: string } & Record<string, unknown>

/**
 * Every name that a file declares: variables, parameters, functions, types, properties, methods.
 * Not the keys of literals, and not locals that a pattern names after a property: what is in a
 * type or in JSON names those.
 */
function declaredIn(program: Program): string[] {
  const names: string[] = []
  const add = (key: unknown) => {
    const { name, id } = (key ?? {}) as { name?: unknown; id?: { name?: unknown } }
    const found = name ?? id?.name
    if (typeof found === 'string') names.push(found)
  }
  const bind = (pattern: Syntax | null) => {
    if (pattern?.type === 'Identifier') add(pattern)
    else if (pattern?.type === 'ObjectPattern')
      for (const property of pattern.properties as Syntax[])
        if (!property.shorthand) bind((property.argument ?? property.value) as Syntax)
    if (pattern?.type === 'ArrayPattern') (pattern.elements as Syntax[]).forEach(bind)
    bindInner(pattern)
  }
  const bindInner = (pattern: Syntax | null) => {
    if (pattern?.type === 'AssignmentPattern') bind(pattern.left as Syntax)
    if (pattern?.type === 'RestElement') bind(pattern.argument as Syntax)
    if (pattern?.type === 'TSParameterProperty') bind(pattern.parameter as Syntax)
  }
  const visitNode = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) return value.forEach(visitNode)
    const node = value as Syntax
    if (node.type === 'VariableDeclarator') bind(node.id as Syntax)
    if (node.type === 'CatchClause') bind(node.param as Syntax | null)
    if (/^(Function|Class)(Declaration|Expression)$|^TS(TypeAlias|Interface)/.test(node.type))
      add(node.id)
    if (/^Class\w*(Property|Method)$|^ObjectMethod$|^TS(Property|Method)Signature$/.test(node.type))
      add(node.computed ? undefined : node.key)
    if (/^ImportSpecifier$/.test(node.type)) add(node.local)
    if (/Function|Method/.test(node.type))
      for (const key of ['params', 'parameters']) ((node[key] ?? []) as Syntax[]).forEach(bind)
    for (const [key, child] of Object.entries(node))
      if (!/^loc$|omments$/.test(key)) visitNode(child)
  }
  visitNode(program)
  return names
}

/** What is wrong with the names that a file declares, without those that keep their word. */
function wrongIn(path: string, declared: string[]): string[] {
  const kept = KEPT_NAMES.filter(([, files]) => files.test(path)).map(([name]) => name)
  return [...new Set(declared)]
    .filter((name) => !kept.includes(name))
    .flatMap((name) => refusedWords(name).map((problem) => `${path}: ${problem}`))
}

const tracked = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', 'src', 'e2e', 'bench', 'packages'],
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
    const program = parseFile(path, text)
    return { path, text, program, named: exportsOf(program) }
  }),
)

test('every file, folder and export has the name that the field uses', () => {
  const parts = new Set(tracked.flatMap((path) => path.replace(/(\.\w+)+$/, '').split('/')))
  const names = new Set(files.flatMap(({ named }) => named.map(({ name }) => name)))
  expect(parts.size).toBeGreaterThan(500)
  expect(names.size).toBeGreaterThan(2_000)
  expect([...parts, ...names].flatMap(wrong)).toEqual([])
})

test('every name that production code declares has the words of the field', () => {
  const production = files
    .filter(
      ({ path }) =>
        /^(src|packages)\//.test(path) && !/\.test\.tsx?$|\.mjs$|^src\/testing\//.test(path),
    )
    .map(({ path, program }) => ({ path, declared: declaredIn(program) }))
  expect(production.length).toBeGreaterThan(500)
  expect(production.flatMap(({ path, declared }) => wrongIn(path, declared))).toEqual([])
  // An exception that nothing needs any more is taken off the list.
  const needless = KEPT_NAMES.filter(
    ([name, paths]) =>
      !production.some(({ path, declared }) => paths.test(path) && declared.includes(name)),
  )
  expect(needless).toEqual([])
})

test.each([
  'const wanted = 1',
  'function f(held: number) {}',
  'type T = { asked: string }',
  'class C { #spent = 0; tell() {} }',
  'const { a: told } = x',
  'type F = (offer: string) => void',
  'try { f() } catch (trouble) {}',
])('finds the word in %s', (text) => {
  const declared = declaredIn(parseFile('src/web/x.ts', text))
  expect(wrongIn('src/web/x.ts', declared)).not.toEqual([])
})

test('no two exported types have one name', () => {
  const places = new Map<string, Set<string>>()
  for (const { path, named } of files)
    for (const { name, type } of named)
      if (type) places.set(name, (places.get(name) ?? new Set()).add(path))
  expect([...places].filter(([, paths]) => paths.size > 1)).toEqual([])
})

const errorClasses = files.flatMap(({ path, text }) =>
  [...text.matchAll(/^ *(?:export )?class (\w+) extends \w*Error\b[^{]*\{([\s\S]*?)^ *\}$/gm)].map(
    ([, name = '', body = '']) => ({
      path,
      name,
      ownName: /override (?:readonly )?name = '(\w+)'/.exec(body)?.[1],
    }),
  ),
)

test('every error class is called an error, and its errors have its name', () => {
  expect(errorClasses.length).toBeGreaterThan(30)
  expect(errorClasses.filter(({ name }) => !name.endsWith('Error'))).toEqual([])
  // EIP-1193 names that one.
  const others = errorClasses.filter(
    ({ name, ownName = name }) => ownName !== name && ownName !== 'ProviderRpcError',
  )
  expect(others).toEqual([])
})

test('every class that a comment says is thrown exists', () => {
  const known = new Set([
    ...errorClasses.map(({ name }) => name),
    'Error',
    'RangeError',
    'TypeError',
    'AggregateError',
    'ValiError',
  ])
  const thrown = files.flatMap(({ path, text }) =>
    [...text.matchAll(/@throws (.*)/g)].flatMap(([, clause = '']) =>
      [...clause.matchAll(/(?<=^|; |, )([A-Z][a-z]\w*)/g)].map(([name]) => ({ path, name })),
    ),
  )
  expect(thrown.length).toBeGreaterThan(50)
  expect(thrown.filter(({ name }) => !known.has(name))).toEqual([])
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
