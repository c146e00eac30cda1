import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ETHER_AMOUNT,
  ETHER_RESOURCE,
  openEtherFixture,
  type EtherFixture,
  type SentEther,
} from '#testing/ether-fixture.ts'
import { alter, refusal, refused, withHighS } from '#testing/proofs.ts'
import { encodeHeader } from '#x402/header.ts'
import { readPaymentBody } from '../payments/status.ts'
import { pollOnce } from '../monitor/poll.ts'

/** Native ETH that the payer broadcast, proven by a signature: every check of the method, each with a proof that fails it alone. */

let fixture: EtherFixture

beforeAll(async () => {
  fixture = await openEtherFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

describe('the checks of a proof', () => {
  test.each([
    ['text that is no payment', 'malformed', 'format', () => 'x'],
    [
      'a payload of another method',
      'malformed',
      'payload',
      (header: string) =>
        alter(header, (value) => ({ ...value, payload: { transaction: 'AQ==' } })),
    ],
    [
      'a signature of 64 bytes',
      'malformed',
      'payload',
      (header: string) => alterPayload(header, { signature: `0x${'11'.repeat(64)}` }),
    ],
    [
      'a payer that is no address',
      'malformed',
      'payer',
      (header: string) => alterPayload(header, { from: 'nobody' }),
    ],
    [
      'another scheme',
      'unsupported_scheme',
      'scheme',
      (header: string) => alterAccepted(header, { scheme: 'upto' }),
    ],
    [
      'another network',
      'network_mismatch',
      'network',
      (header: string) => alterAccepted(header, { network: 'eip155:1' }),
    ],
    [
      'another method',
      'unsupported_method',
      'method',
      (header: string) => alterAccepted(header, { extra: { assetTransferMethod: 'eip3009' } }),
    ],
    [
      'no method',
      'unsupported_method',
      'method',
      (header: string) => alterAccepted(header, { extra: {} }),
    ],
    [
      'another asset',
      'asset_mismatch',
      'asset',
      (header: string) =>
        alterAccepted(header, { asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }),
    ],
    [
      'another amount',
      'amount_mismatch',
      'amount',
      (header: string) => alterAccepted(header, { amount: (ETHER_AMOUNT + 1n).toString() }),
    ],
    [
      'another payee',
      'recipient_mismatch',
      'recipient',
      (header: string) =>
        alterAccepted(header, { payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }),
    ],
    [
      'another resource',
      'resource_mismatch',
      'resource',
      (header: string) =>
        alter(header, (value) => ({ ...value, resource: { url: `${ETHER_RESOURCE}/other` } })),
    ],
    [
      'no resource',
      'resource_mismatch',
      'resource',
      (header: string) => alter(header, (value) => ({ ...value, resource: undefined })),
    ],
    [
      'a signature of nobody',
      'invalid_signature',
      'signature',
      (header: string) => alterPayload(header, { signature: `0x${'ff'.repeat(65)}` }),
    ],
    ['the high-s twin of the signature', 'invalid_signature', 'signature', withHighS],
    [
      'terms that were not signed',
      'invalid_signature',
      'signature',
      (header: string) => alterAccepted(header, { maxTimeoutSeconds: 61 }),
    ],
  ])('%s is refused as %s at %s', async (_, reason, check, change) => {
    const sent = await fixture.send({ mined: 0 })
    expect(await refusal(fixture.receive(sent, change(await fixture.prove(sent))))).toEqual(
      refused(reason, check),
    )
  })

  test('a signature by another key than the payer’s is refused', async () => {
    const sent = await fixture.send({ mined: 0 })
    expect(
      await refusal(
        fixture.receive(sent, await fixture.prove(sent, { signer: await fixture.evm.wallet(0n) })),
      ),
    ).toEqual(refused('invalid_signature', 'signature'))
  })

  test('a v1 proof is held against its own offer', async () => {
    const sent = await fixture.send({ mined: 0 })
    expect(
      await refusal(
        fixture.receive(sent, await fixture.prove(sent, { version: 1, amount: ETHER_AMOUNT - 1n })),
      ),
    ).toEqual(refused('amount_mismatch', 'amount'))
    expect(
      await refusal(
        fixture.receive(
          sent,
          await fixture.prove(sent, { version: 1, url: `${ETHER_RESOURCE}/other` }),
        ),
      ),
    ).toEqual(refused('resource_mismatch', 'resource'))
    expect(
      await refusal(
        fixture.receive(
          sent,
          alterPayload(await fixture.prove(sent, { version: 1 }), { offer: undefined }),
        ),
      ),
    ).toEqual(refused('malformed', 'offer'))
  })

  test('a proof signed for another chain is refused by its signature', async () => {
    const sent = await fixture.send({ mined: 0 })
    const foreign = alterAccepted(await fixture.prove(sent, { network: 'eip155:1' }), {
      network: sent.network,
    })
    expect(await refusal(fixture.receive(sent, foreign))).toEqual(
      refused('invalid_signature', 'signature'),
    )
  })

  test('a refused proof leaves the transaction to its payer', async () => {
    const sent = await fixture.send()
    await refusal(
      fixture.receive(sent, await fixture.prove(sent, { signer: await fixture.evm.wallet(0n) })),
    )
    expect(await fixture.receive(sent, await fixture.prove(sent))).toMatchObject({
      verified: true,
      alreadyProcessed: false,
    })
  })
})

describe('what the chain shows', () => {
  test('a thief who signs for the transaction of another account is refused, and the payer is still served', async () => {
    const sent = await fixture.send()
    const thief = await fixture.evm.wallet(0n)
    expect(
      await refusal(fixture.receive(sent, await fixture.prove(sent, { payer: thief }))),
    ).toEqual(refused('payer_mismatch', 'payer'))
    expect(await fixture.receive(sent, await fixture.prove(sent))).toMatchObject({ verified: true })
  })

  test('a thief is refused while the transaction is still in the pool', async () => {
    const sent = await fixture.send({ mined: 0 })
    expect(
      await refusal(
        fixture.receive(sent, await fixture.prove(sent, { payer: await fixture.evm.wallet(0n) })),
      ),
    ).toEqual(refused('payer_mismatch', 'payer'))
    await fixture.evm.mine()
  })

  test.each([
    ['less', ETHER_AMOUNT - 1n],
    ['more', ETHER_AMOUNT + 1n],
  ])('%s than asked is refused', async (_, value) => {
    const sent = await fixture.send({ value })
    expect(await refusal(fixture.receive(sent, await fixture.prove(sent)))).toEqual(
      refused('amount_mismatch', 'paid_amount'),
    )
  })

  test('a transfer to another recipient is refused', async () => {
    const sent = await fixture.send({ to: (await fixture.evm.wallet(0n)).address })
    expect(await refusal(fixture.receive(sent, await fixture.prove(sent)))).toEqual(
      refused('recipient_mismatch', 'paid_to'),
    )
  })

  test('a payment to oneself is refused', async () => {
    const payer = await fixture.evm.wallet(10n ** 18n)
    const fields = {
      chainId: 31337,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      nonce: 0,
      to: payer.address,
      value: ETHER_AMOUNT,
    }
    const txRef = await fixture.evm.client.sendRawTransaction({
      serializedTransaction: await payer.signTransaction({ type: 'eip1559', ...fields }),
    })
    await fixture.evm.mine(2)
    const sent: SentEther = {
      payer,
      payTo: payer.address,
      txRef,
      network: 'eip155:31337',
      amount: ETHER_AMOUNT,
    }
    expect(await refusal(fixture.receive(sent, await fixture.prove(sent)))).toEqual(
      refused('payer_mismatch', 'not_the_payee'),
    )
  })

  test('a transaction with data is refused', async () => {
    const sent = await fixture.send({ data: '0x00' })
    expect(await refusal(fixture.receive(sent, await fixture.prove(sent)))).toEqual(
      refused('unexpected_instruction', 'plain_transfer'),
    )
  })

  test('a transaction that was reverted is refused once that is final; before, nothing is decided', async () => {
    const contract = (await fixture.evm.wallet(0n)).address
    await fixture.evm.setCode(contract, '0x60006000fd')
    const sent = { ...(await fixture.send({ to: contract })), payTo: contract }
    expect(await fixture.receive(sent, await fixture.prove(sent), { timeout: 1 })).toMatchObject({
      verified: false,
      status: 'pending',
      paymentId: null,
    })
    await fixture.evm.mine(10)
    expect(await refusal(fixture.receive(sent, await fixture.prove(sent)))).toEqual(
      refused('transaction_failed', 'transaction'),
    )
  })

  test('a block that a reorg replaced counts for nothing', async () => {
    const sent = await fixture.send()
    const { paymentId } = await fixture.receive(sent, await fixture.prove(sent))
    await fetch(fixture.evm.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [3, []] }),
    })
    await fixture.evm.mine()
    await pollOnce(fixture.context, fixture.chain, { expiredToo: false })
    expect(await readPaymentBody(fixture.context, paymentId ?? '')).toMatchObject({
      status: expect.stringMatching(/rolled_back|pending/),
    })
  })
})

test('what is expected must be a payment this service can verify', async () => {
  const sent = await fixture.send({ mined: 0 })
  const header = await fixture.prove(sent)
  expect(await refusal(fixture.receive(sent, header, { expectedAmount: '0' }))).toMatchObject({
    code: 'INVALID_PARAMETERS',
  })
  expect(await refusal(fixture.receive(sent, header, { asset: 'USDC' }))).toMatchObject({
    code: 'INVALID_PARAMETERS',
  })
  expect(await refusal(fixture.receive(sent, header, { network: 'eip155:1' }))).toMatchObject({
    code: 'INVALID_PARAMETERS',
  })
  expect(
    await refusal(fixture.receive(sent, header, { facilitatorUrl: 'http://169.254.169.254/' })),
  ).toMatchObject({ code: 'INVALID_PARAMETERS' })
})

function alterPayload(header: string, change: object): string {
  return alter(header, (value) => ({ ...value, payload: { ...value.payload, ...change } }))
}

function alterAccepted(header: string, change: object): string {
  return alter(header, (value) => ({ ...value, accepted: { ...value.accepted, ...change } }))
}

test('a header larger than 8 KiB is refused before it is read', async () => {
  const sent = await fixture.send({ mined: 0 })
  expect(
    await refusal(fixture.receive(sent, encodeHeader({ fill: 'x'.repeat(8 * 1024) }))),
  ).toEqual(refused('malformed', 'format'))
})
