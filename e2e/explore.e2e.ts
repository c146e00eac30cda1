import type { Page } from '@playwright/test'
import { PublicKey } from '@solana/web3.js'
import { parseEther } from 'viem'
import { connect, expectReviewed, signButton } from './checkout.ts'
import { giveUsdc, until } from './chain.ts'
import { expect, test } from './fixtures.ts'

/** A person reads pages that cost money: the shop of the local network, paid in each of its currencies and versions. */

/** Browsers tell of every 402 on their consoles. */
const REFUSED = /status of 402/

const ARTICLES = { eth: '/articles/settlement-without-banks', sol: '/articles/the-price-of-finality', usdc: '/articles/reading-a-402' }

async function askFor(page: Page, url: string, via?: 'relay'): Promise<void> {
  await page.goto('/explore')
  await page.getByLabel('Address of the resource').fill(url)
  if (via === 'relay') {
    await page.getByText('Headers, body and the way there').click()
    await page.getByText('Through the relay', { exact: true }).click()
  }
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
}

/** The offer in a currency, once the reader's balance is there. */
function offerIn(page: Page, symbol: string) {
  return page
    .getByRole('listitem')
    .filter({ hasText: symbol })
    .filter({ has: page.getByRole('button', { name: 'Review and pay' }) })
}

async function expectServed(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { name: 'What you paid for' })).toBeVisible({ timeout: 45_000 })
}

for (const version of [2, 1] as const) {
  test(`an article for ETH, version ${version}: one transaction, one free signature`, async ({ net, chains, buyer, expectError }) => {
    expectError(REFUSED)
    const { page, ethereum } = await buyer({ ether: '1' })
    const before = await chains.evm.getBalance({ address: net.wallets.seller.evm.address })
    await askFor(page, `${net.urls.seller}${ARTICLES.eth}`)
    await expect(page.getByRole('heading', { name: 'This costs something' })).toBeVisible()
    await connect(page, 'MetaMask')
    if (version === 1) await page.getByText('version 1', { exact: true }).click()
    await offerIn(page, '0.01').first().getByRole('button', { name: 'Review and pay' }).click()
    await expectReviewed(page, 'MetaMask')
    await signButton(page, 'MetaMask').click()
    await page.getByRole('button', { name: 'Sign the proof in MetaMask' }).click({ timeout: 30_000 })
    await expectServed(page)

    expect(ethereum.sent).toHaveLength(1)
    expect(ethereum.typed).toEqual(['PaymentProof'])
    expect((await chains.evm.getBalance({ address: net.wallets.seller.evm.address })) - before).toBe(parseEther('0.01'))
  })

  test(`an article for SOL, version ${version}: one signature, the seller sends`, async ({ net, chains, buyer, expectError }) => {
    expectError(REFUSED)
    const { page, solana } = await buyer({ sol: 2 })
    const seller = new PublicKey(net.wallets.seller.solana.address)
    const before = await chains.solana.getBalance(seller)
    await askFor(page, `${net.urls.seller}${ARTICLES.sol}`)
    await connect(page, 'Phantom')
    if (version === 1) await page.getByText('version 1', { exact: true }).click()
    await offerIn(page, '0.1').filter({ hasText: 'The seller sends it' }).getByRole('button', { name: 'Review and pay' }).click()
    await expectReviewed(page, 'Phantom')
    await signButton(page, 'Phantom').click()
    await expectServed(page)

    expect(solana.signed).toHaveLength(1)
    await until(async () => (await chains.solana.getBalance(seller)) - before === 100_000_000, 'the seller’s 0.1 SOL')
  })

  test(`an article for USDC, version ${version}: one signature and no gas`, async ({ net, chains, buyer, expectError }) => {
    expectError(REFUSED)
    const { page, ethereum } = await buyer()
    await giveUsdc(chains, net, { address: ethereum.address, units: 5_000_000n })
    await askFor(page, `${net.urls.seller}${ARTICLES.usdc}`)
    await connect(page, 'MetaMask')
    if (version === 1) await page.getByText('version 1', { exact: true }).click()
    await offerIn(page, 'USDC').first().getByRole('button', { name: 'Review and pay' }).click()
    await expectReviewed(page, 'MetaMask')
    await signButton(page, 'MetaMask').click()
    await expectServed(page)

    expect(ethereum.sent).toEqual([])
    expect(ethereum.typed).toEqual(['TransferWithAuthorization'])
  })
}

test('an answer that fails after the payment is asked for again with the same payment, also after a reload', async ({ net, buyer, expectError }) => {
  expectError(REFUSED)
  expectError(/status of 500/)
  const { page, solana } = await buyer({ sol: 2 })
  await askFor(page, `${net.urls.seller}${ARTICLES.sol}?demo=error-after-payment`)
  await connect(page, 'Phantom')
  await offerIn(page, '0.1').filter({ hasText: 'The seller sends it' }).getByRole('button', { name: 'Review and pay' }).click()
  await expectReviewed(page, 'Phantom')
  await signButton(page, 'Phantom').click()
  await expect(page.getByRole('heading', { name: /answered 500/ })).toBeVisible({ timeout: 45_000 })
  await page.reload()
  await page.getByRole('button', { name: 'Retry with the same payment' }).click()
  await expectServed(page)
  expect(solana.signed).toHaveLength(1)
})

test('a price that rose is paid only with the reader’s word, and never while the first payment may still be used', async ({ net, buyer, expectError }) => {
  expectError(REFUSED)
  const { page, solana } = await buyer({ sol: 2 })
  await askFor(page, `${net.urls.seller}${ARTICLES.sol}?demo=price-rises`)
  await connect(page, 'Phantom')
  await offerIn(page, '0.1').filter({ hasText: 'The seller sends it' }).getByRole('button', { name: 'Review and pay' }).click()
  await expectReviewed(page, 'Phantom')
  await signButton(page, 'Phantom').click()
  await expect(page.getByRole('heading', { name: 'The price has risen' })).toBeVisible({ timeout: 45_000 })
  await expect(page.getByText('Your first signature could still be used.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Pay the new price' })).toBeHidden()
  expect(solana.signed).toHaveLength(1)
})

test('a 402 whose terms are hidden from pages is recognized, and read through the relay', async ({ net, visitor, expectError }) => {
  expectError(REFUSED)
  const page = await visitor()
  await askFor(page, `${net.urls.seller}${ARTICLES.eth}?demo=hidden-headers`)
  await expect(page.getByRole('heading', { name: 'It costs something, but its terms are hidden' })).toBeVisible()
  await expect(page.getByText('Access-Control-Expose-Headers')).toBeVisible()
  await page.getByRole('button', { name: 'Ask through the relay' }).click()
  await expect(page.getByRole('heading', { name: 'This costs something' })).toBeVisible()
})
