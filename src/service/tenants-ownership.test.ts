import { Keypair } from '@solana/web3.js'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, classOf, listAt, succeed, textAt } from '#testing/api-client.ts'
import { isConfirmedRow, readRows } from '#testing/tenant-ledger.ts'
import {
  atFacilitator,
  EVM_METHODS,
  makeProof,
  receive,
  SOLANA_METHODS,
  type ProofMethod,
  type Presented,
} from '#testing/tenant-proofs.ts'
import {
  evmSigner,
  listPayouts,
  openTenants,
  provePayout,
  solanaSigner,
  type WalletOwnerSigner,
  type Tenants,
} from '#testing/two-tenants.ts'

/** Whose a wallet is, who says so, and what becomes of claims when that changes. */

let t: Tenants
let mining: NodeJS.Timeout

beforeAll(async () => {
  t = await openTenants({ solana: true })
  mining = setInterval(() => void t.evm.mine().catch(() => undefined), 100)
})

afterAll(async () => {
  clearInterval(mining)
  await t?.[Symbol.asyncDispose]()
})

const familyOf = (method: ProofMethod) => (method.startsWith('evm') ? 'evm' : 'solana')
const newSigner = (family: 'evm' | 'solana'): WalletOwnerSigner =>
  family === 'evm'
    ? evmSigner(privateKeyToAccount(generatePrivateKey()))
    : solanaSigner(Keypair.generate())
/** One that can be paid by the method: a token of Solana wants an account that is open. */
async function newPayee(method: ProofMethod): Promise<WalletOwnerSigner> {
  return familyOf(method) === 'evm' ? newSigner('evm') : solanaSigner(await t.solana.payer())
}
const release = ({ api }: { api: Tenants['keyless'] }, { address }: WalletOwnerSigner) =>
  api.delete(`/wallets/payout/${address}`)

describe.each(['evm', 'solana'] as const)('a payout wallet on %s', (family) => {
  test('is owned by the account whose key asked for what the wallet signed, and listed there and nowhere else', async () => {
    const wallet = newSigner(family)
    const { body } = succeed(await provePayout(t.a, wallet))
    expect(at(body, 'wallet')).toMatchObject({
      walletAddress: wallet.address,
      family,
      kind: 'payout',
      proof: 'signature',
    })
    expect([
      (await listPayouts(t.a)).includes(wallet.address),
      (await listPayouts(t.b)).includes(wallet.address),
    ]).toEqual([true, false])
  })

  test('is not taken by a signature under another account’s key until its owner has released it', async () => {
    const wallet = newSigner(family)
    succeed(await provePayout(t.a, wallet))
    expect(classOf(await provePayout(t.b, wallet))).toBe('FORBIDDEN wallet_owned')
    expect(classOf(await release(t.b, wallet))).toMatch(/^(FORBIDDEN wallet_owned|NOT_FOUND)$/)
    expect(await listPayouts(t.a)).toContain(wallet.address)
    expect((await release(t.a, wallet)).status).toBe(200)
    expect(await listPayouts(t.a)).not.toContain(wallet.address)
    expect((await provePayout(t.b, wallet)).status).toBe(200)
  })

  test('is not owned by a signature of another wallet, nor by one that was given for another account or once before', async () => {
    const [wallet, other] = [newSigner(family), newSigner(family)]
    const { body } = succeed(
      await t.b.api.post('/wallets/payout/challenge', { walletAddress: wallet.address }),
    )
    const [challengeId, message] = [textAt(body, 'challengeId'), textAt(body, 'message')]
    const signature = await wallet.sign(message)
    const forged = await t.b.api.post('/wallets/payout', {
      challengeId,
      signature: await other.sign(message),
    })
    expect(forged.status, forged.text).toBe(400)
    const stolen = await t.a.api.post('/wallets/payout', { challengeId, signature })
    expect([400, 403, 404], stolen.text).toContain(stolen.status)
    expect([...(await listPayouts(t.a)), ...(await listPayouts(t.b))]).not.toContain(wallet.address)
  })

  test('whose proof is presented twice at once is owned once', async () => {
    const wallet = newSigner(family)
    const replies = await Promise.all([t.a, t.b].map((tenant) => provePayout(tenant, wallet)))
    expect(replies.map(({ status }) => status).toSorted((x, y) => x - y)).toEqual([200, 403])
    expect(
      [...(await listPayouts(t.a)), ...(await listPayouts(t.b))].filter(
        (address) => address === wallet.address,
      ),
    ).toHaveLength(1)
  })
})

test('a managed wallet is its account’s from the start', async () => {
  const { body } = succeed(await t.a.api.get('/wallets/payout'))
  expect(listAt(body, 'wallets')).toContainEqual(
    expect.objectContaining({ walletAddress: t.a.managed.evm, kind: 'managed', proof: 'managed' }),
  )
})

/** Whether a door granted what was asked, now or before. */
const granted = async (tenant: { api: Tenants['keyless'] }, proof: Presented) => {
  const reply = await receive(tenant, proof)
  return at(reply.body, 'verified') === true
    ? `granted${at(reply.body, 'alreadyProcessed') === true ? ' before' : ''}`
    : classOf(reply)
}

describe.each([...EVM_METHODS, ...SOLANA_METHODS])(
  'a payee that nobody has proven, paid by %s',
  (method) => {
    const proofTo = ({ address }: WalletOwnerSigner) => makeProof(t, { method, payTo: address })
    // What the chain shows of these is public and names no resource: anybody could present it once it has landed.
    const namesItsPayment =
      method !== 'evm eip3009' && method !== 'solana token' && method !== 'evm signed-transaction'

    test('can be used by an account that owns nothing, and this binds only that account', async () => {
      const wallet = await newPayee(method)
      const proof = await proofTo(wallet)
      expect(await granted(t.c, proof)).toBe('granted')
      expect(await granted(t.c, proof)).toBe('granted before')
      // What C did is nothing to the one whose wallet it is.
      succeed(await provePayout(t.a, wallet))
      expect(await granted(t.a, proof)).toBe(
        namesItsPayment ? 'granted' : 'INVALID_PAYMENT_PROOF already_used',
      )
      expect(await granted(t.c, proof)).toBe('FORBIDDEN payee_not_owned')
      for (const tenant of namesItsPayment ? [t.a, t.c] : [t.c]) {
        expect(
          (await readRows(tenant)).filter(
            (row) => row.recipient === wallet.address && isConfirmedRow(row),
          ),
        ).toHaveLength(1)
      }
    })

    test('once its owner consumed the proof, no other account does: not after release, nor after another account has proven it', async () => {
      const wallet = await newPayee(method)
      succeed(await provePayout(t.a, wallet))
      const proof = await proofTo(wallet)
      expect(await granted(t.a, proof)).toBe('granted')
      expect((await release(t.a, wallet)).status).toBe(200)
      expect(await granted(t.c, proof)).toBe('INVALID_PAYMENT_PROOF already_used')
      succeed(await provePayout(t.b, wallet))
      expect(await granted(t.b, proof)).toBe('INVALID_PAYMENT_PROOF already_used')
      expect(
        await granted(t.b, await proofTo(wallet)),
        'a payment after the transfer is the new owner’s',
      ).toBe('granted')
    })
  },
)

test.each(['evm txid', 'solana txid'] as const satisfies readonly ProofMethod[])(
  'a caller without a key settles nothing by a public reference (%s)',
  async (method) => {
    const wallet = await newPayee(method)
    const proof = await makeProof(t, { method, payTo: wallet.address })
    expect(at((await atFacilitator({ api: t.keyless }, 'settle', proof)).body, 'success')).not.toBe(
      true,
    )
    expect(await granted(t.c, proof)).toBe('granted')
  },
)

test.each(['evm eip3009', 'solana token'] as const satisfies readonly ProofMethod[])(
  'a caller without a key settles what it presents itself to a payee that nobody owns (%s)',
  async (method) => {
    const wallet = await newPayee(method)
    const proof = await makeProof(t, { method, payTo: wallet.address })
    const [first, second] = await Promise.all(
      [1, 2].map(() => atFacilitator({ api: t.keyless }, 'settle', proof)),
    )
    expect([first, second].filter((reply) => at(reply?.body, 'success') === true)).toHaveLength(1)
  },
)
