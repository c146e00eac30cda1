import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { EVM_NATIVE } from '#contract/address.ts'
import { fact } from '#contract/facts.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { authorizationTypedData } from '#chains/evm/token-authorization.ts'
import { encodeHeader } from '#x402/header.ts'
import { proofTypedData } from '#x402/txid.ts'
import { readBatch, writeCsv } from './batch.ts'
import { verdictOf, type Check } from '../../payment-view/check.ts'
import { readCurl, recognize, type Recognized } from './recognize.ts'
import { factsOf } from './proof/facts.ts'
import { checkLocally, type Expected } from './proof/local-checks.ts'

const payer = privateKeyToAccount(generatePrivateKey())
const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const USDC = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const network: Network = {
  network: 'eip155:31337',
  name: 'Chain',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 2,
  assets: [NATIVE_ETH, USDC],
}
const TX = `0x${'ab'.repeat(32)}`
const resource = {
  url: 'https://shop.example/a',
  description: 'An article',
  mimeType: 'text/plain',
}
const expected: Expected = {
  network,
  asset: NATIVE_ETH,
  wallet: PAYEE,
  amountAtomic: 10n,
  resource: resource.url,
  memo: null,
}

async function txidHeader(amount = 10n): Promise<string> {
  const accepted = {
    scheme: 'exact',
    network: network.network,
    amount: amount.toString(),
    asset: EVM_NATIVE,
    payTo: PAYEE,
    maxTimeoutSeconds: 300,
    extra: { assetTransferMethod: 'txid' },
  }
  const data = proofTypedData(
    {
      network: network.network,
      from: payer.address,
      payTo: PAYEE,
      asset: EVM_NATIVE,
      amountAtomic: amount,
      maxTimeoutSeconds: 300,
      resource,
    },
    TX,
  )
  const signature = await (payer.signTypedData as (data: object) => Promise<string>)(data)
  return encodeHeader({
    x402Version: 2,
    resource,
    accepted,
    payload: {
      type: 'payment-proof',
      alg: 'ES256K',
      format: 'eip712',
      txRef: TX,
      from: payer.address,
      signature,
    },
  })
}

function proofIn(found: Recognized): Extract<Recognized, { kind: 'proof' }> {
  if (found.kind !== 'proof') throw new Error(JSON.stringify(found))
  return found
}

describe('a pasted text', () => {
  test('is recognized for what it is', async () => {
    const header = await txidHeader()
    const id = createPaymentId()
    expect(recognize(' ').kind).toBe('empty')
    expect(proofIn(recognize(header)).header).toBe(header)
    expect(proofIn(recognize(`PAYMENT-SIGNATURE: ${header}\n`)).header).toBe(header)
    expect(proofIn(recognize(header.replace(/(.{40})/g, '$1\n'))).header).toBe(header)
    expect(recognize(id)).toEqual({ kind: 'payment_id', id })
    expect(recognize(TX.toUpperCase().replace('0X', '0x'))).toEqual({
      kind: 'transaction',
      family: 'evm',
      id: TX,
    })
    expect(recognize('5'.repeat(87))).toMatchObject({ kind: 'transaction', family: 'solana' })
  })

  test('may be a curl command with the header in it', async () => {
    const header = await txidHeader()
    const command = `curl -sS 'https://shop.example/a?x=1' \\\n  -H "Accept: application/json" \\\n  --header=x-payment:${header}`
    const found = proofIn(recognize(command))
    expect([found.header, found.url]).toEqual([header, 'https://shop.example/a?x=1'])
  })

  test.each<[string, string, RegExp, string | null]>([
    ['a curl command without a payment', 'curl https://shop.example/', /No X-PAYMENT/, null],
    ['an open quote', `curl 'https://shop.example/`, /Unclosed quote/, null],
    ['a hash that is too short', '0xabcd', /64 hex digits.*found 4/, null],
    ['a payment id with a slip', 'pay_abc', /Mistyped payment ID/, null],
    ['words', 'is this money?', /Not recognised/, null],
    ['base64 for addresses', 'eyJ4-_8', /standard base64/, null],
    ['a challenge', encodeHeader({ x402Version: 2, accepts: [] }), /payment request/, 'accepts'],
    [
      'a settlement',
      encodeHeader({ success: true, transaction: TX, network: 'eip155:1' }),
      /PAYMENT-RESPONSE/,
      'transaction',
    ],
    [
      'a payment without its network',
      encodeHeader({ x402Version: 1, scheme: 'exact', payload: {} }),
      /Missing field/,
      'network',
    ],
    ['a version of the future', encodeHeader({ x402Version: 3 }), /Expected/, 'x402Version'],
    ['an old receipt', '{"receipt":"paydesk/1"}', /No signed bytes/, 'receipt'],
    [
      'a receipt without a payer',
      '{"receipt":"paydesk/2","paymentId":"x","network":"eip155:1","transaction":"0x","height":1,"blockHash":null,"status":"confirmed"}',
      /^Missing field/,
      'payer',
    ],
  ])('that is %s is explained', (_, text, words, at) => {
    const found = recognize(text)
    expect(found).toMatchObject({ kind: 'problem', at })
    expect(found.kind === 'problem' && found.text).toMatch(words)
  })

  test('that lost its end says so', async () => {
    const header = await txidHeader()
    expect(recognize(header.slice(0, 80))).toMatchObject({
      kind: 'problem',
      text: expect.stringMatching(/Incomplete header/) as string,
    })
  })
})

test('curl’s quotes and short options are read as a shell does', () => {
  expect(readCurl(`curl -X POST -H'a: 1' -H "b: \\"2\\"" --url https://x.example/y`)).toEqual({
    url: 'https://x.example/y',
    headers: [
      ['a', '1'],
      ['b', '"2"'],
    ],
  })
})

describe('reading a proof alone', () => {
  async function statesOf(
    header: string,
    change: Partial<Expected> = {},
    now = Date.now(),
  ): Promise<Record<string, string>> {
    const { payment } = proofIn(recognize(header))
    const checks = await checkLocally(factsOf(payment), payment, {
      expected: { ...expected, ...change },
      now,
    })
    return Object.fromEntries(checks.map(({ name, state }) => [name, state]))
  }

  test('a good one holds in every check', async () => {
    expect(new Set(Object.values(await statesOf(await txidHeader())))).toEqual(new Set(['ok']))
  })

  test.each<[string, Partial<Expected>, string]>([
    ['another payee', { wallet: USDC.address }, 'recipient'],
    ['another amount', { amountAtomic: 11n }, 'amount'],
    ['another resource', { resource: 'https://shop.example/b' }, 'resource'],
    ['another currency', { asset: USDC }, 'asset'],
    ['another network', { network: { ...network, network: 'eip155:1' } }, 'network'],
  ])('%s does not', async (_, change, name) => {
    expect((await statesOf(await txidHeader(), change))[name]).toBe('bad')
  })

  test('the signature is held against what is expected, not what the proof says', async () => {
    const states = await statesOf(await txidHeader(10n), { amountAtomic: 11n })
    expect(states.signature).toBe('bad')
  })

  test('an authorization is read with its token’s name and its time', async () => {
    const message = {
      from: payer.address,
      to: PAYEE as `0x${string}`,
      value: 10n,
      validAfter: 100n,
      validBefore: 200n,
      nonce: `0x${'cd'.repeat(32)}` as const,
    }
    const domain = {
      name: 'USD Coin',
      version: '2',
      chainId: 31337,
      verifyingContract: USDC.address as `0x${string}`,
    }
    const signature = await payer.signTypedData(authorizationTypedData({ domain, message }))
    const authorization = { ...message, value: '10', validAfter: '100', validBefore: '200' }
    const accepted = {
      scheme: 'exact',
      network: network.network,
      amount: '10',
      asset: USDC.address,
      payTo: PAYEE,
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    }
    const header = encodeHeader({
      x402Version: 2,
      resource,
      accepted,
      payload: { signature, authorization },
    })
    expect(await statesOf(header, { asset: USDC }, 150_000)).toMatchObject({
      signature: 'ok',
      window: 'ok',
    })
    expect(await statesOf(header, { asset: USDC }, 200_000)).toMatchObject({
      signature: 'ok',
      window: 'bad',
    })
    const v1 = encodeHeader({
      x402Version: 1,
      scheme: 'exact',
      network: network.network,
      payload: { signature, authorization },
    })
    expect(await statesOf(v1, { asset: USDC }, 150_000)).toMatchObject({
      signature: 'open',
      recipient: 'ok',
      amount: 'ok',
      resource: 'open',
    })
  })
})

describe('the verdict', () => {
  const check = (state: Check['state']): Check => ({
    name: 'x',
    source: 'local',
    state,
    expected: fact('none'),
    got: fact('none'),
  })
  test.each([
    [
      'the chain shows it',
      { checks: [check('ok')], settled: true, vouched: false, undecided: null },
      'settled',
    ],
    [
      'the service vouches',
      { checks: [check('ok')], settled: false, vouched: true, undecided: null },
      'valid',
    ],
    [
      'nobody vouches',
      { checks: [check('ok')], settled: false, vouched: false, undecided: null },
      'unknown',
    ],
    [
      'one check fails, though the chain shows it',
      { checks: [check('ok'), check('bad')], settled: true, vouched: true, undecided: null },
      'invalid',
    ],
    [
      'a check is open, though the service vouches',
      { checks: [check('open')], settled: false, vouched: true, undecided: null },
      'unknown',
    ],
    [
      'a check is open, though the chain shows it',
      { checks: [check('open')], settled: true, vouched: false, undecided: null },
      'unknown',
    ],
    [
      'nothing is decided',
      { checks: [check('ok')], settled: false, vouched: true, undecided: 'wait' },
      'unknown',
    ],
  ] as const)('when %s: %s', (_, outcome, verdict) => {
    expect(verdictOf(outcome)).toBe(verdict)
  })
})

describe('many proofs', () => {
  test.each<[string, string, unknown]>([
    [
      'lines',
      'aaa\r\n\nbbb\n',
      [
        ['1', 'aaa'],
        ['2', 'bbb'],
      ],
    ],
    [
      'CSV',
      'order,proof\n"A, 1",aaa\nB,"bbb"\n',
      [
        ['A, 1', 'aaa'],
        ['B', 'bbb'],
      ],
    ],
    [
      'JSON texts',
      '["aaa","bbb"]',
      [
        ['1', 'aaa'],
        ['2', 'bbb'],
      ],
    ],
    [
      'JSON objects',
      '[{"id":"A","paymentProof":"aaa"},{"x":1}]',
      [
        ['A', 'aaa'],
        ['2', ''],
      ],
    ],
    ['nothing', ' ', []],
  ])('are read from %s', (_, text, rows) => {
    const read = readBatch(text)
    expect(read.ok && read.rows.map(({ name, proof }) => [name, proof])).toEqual(rows)
  })

  test('too many, and a table without the column, are refused', () => {
    expect(readBatch('x\n'.repeat(501))).toEqual({ ok: false, problem: 'too_many' })
    expect(readBatch('a,b\n1,2')).toEqual({ ok: false, problem: 'no_column' })
    expect(readBatch('[1')).toEqual({ ok: false, problem: 'json' })
  })

  test('their verdicts are exported without a cell that a spreadsheet would run', () => {
    const text = writeCsv([
      {
        name: '=1+1',
        verdict: 'invalid',
        reason: 'a "b", c',
        amount: '1',
        payer: '',
        transaction: '',
      },
    ])
    expect(text).toBe(
      '\uFEFFname,verdict,reason,amount,payer,transaction\r\n\'=1+1,invalid,"a ""b"", c",1,,\r\n',
    )
  })
})
