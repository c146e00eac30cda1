import { hashTypedData } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { intentText, type HostedIntent } from '#contract/hosted-intent.ts'
import { SOLANA_DEVNET } from '#contract/network.ts'
import { evmWallet, solanaWallet } from '#testing/test-browser.ts'
import { typedData } from '#testing/typed-data.ts'
import { intentHash, isIntentSigned } from './execute.ts'

const account = privateKeyToAccount(generatePrivateKey())
const payee = evmWallet().address

describe('the words that are signed', () => {
  const intent: HostedIntent = {
    nonce: 'a'.repeat(32),
    network: 'eip155:8453',
    from: account.address,
    to: payee,
    asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
    symbol: 'ETH',
    decimals: 18,
    amountAtomic: '500000000000000000',
    priorityFee: '',
    resource: '',
    description: 'Téa',
    reference: '',
    refundOf: '',
    expiresAt: 1_800_000_000,
  }

  test('are hashed as every wallet hashes them', () => {
    expect(`0x${Buffer.from(intentHash(intent)).toString('hex')}`).toBe(
      hashTypedData(typedData(intent)),
    )
  })

  test('count only whole: a signature over one is none over any that differs in a field', async () => {
    const signature = await account.signTypedData(typedData(intent))
    expect(isIntentSigned(account.address, intent, signature)).toBe(true)
    const others: Partial<HostedIntent>[] = [
      { nonce: 'b'.repeat(32) },
      { from: payee },
      { to: account.address },
      { asset: payee },
      { amountAtomic: '500000000000000001' },
      { priorityFee: '0.01' },
      { network: 'eip155:1' },
      { resource: 'https://a.example' },
      { description: 'Tea' },
      { reference: 'x' },
      { refundOf: 'pay_1' },
      { expiresAt: 1_800_000_001 },
    ]
    for (const other of others)
      expect(
        isIntentSigned(account.address, { ...intent, ...other }, signature),
        JSON.stringify(other),
      ).toBe(false)
    expect(isIntentSigned(payee, intent, signature)).toBe(false)
  })

  test('are one line a field on Solana, whatever somebody writes into one', async () => {
    const wallet = solanaWallet()
    const solana = {
      ...intent,
      network: SOLANA_DEVNET,
      from: wallet.address,
      to: solanaWallet().address,
      decimals: 9,
      symbol: 'SOL',
      description: 'x\nTo: me',
    }
    expect(intentText(solana)).toContain('Description: "x\\nTo: me"')
    const signature = await wallet.sign(intentText(solana))
    expect(isIntentSigned(wallet.address, solana, signature)).toBe(true)
    for (const other of [{ amountAtomic: '1' }, { priorityFee: '0.01' }, { refundOf: 'pay_1' }])
      expect(isIntentSigned(wallet.address, { ...solana, ...other }, signature)).toBe(false)
  })
})
