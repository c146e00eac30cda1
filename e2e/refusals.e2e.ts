import { PublicKey, SystemProgram } from '@solana/web3.js'
import { privateKeyToAddress } from 'viem/accounts'
import { countSent, signaturesOf } from './chain.ts'
import {
  connect,
  connectOnForm,
  expectPaid,
  expectReviewed,
  openCheckout,
  pay,
  review,
  sign,
  signButton,
} from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { startLyingProxy } from './lying-proxy.ts'
import { onEthereum, onSolana } from './orders.ts'
import { randomKeypair, randomPrivateKey } from './random.ts'
import { oneOf, startingWith, text, textLike } from './text.ts'

test('a rejection in the wallet pays nothing, and the same payment can be signed afterwards', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  await openCheckout(page, onEthereum(net, '0.01'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')

  ethereum.signing = 'reject'
  await signButton(page, 'MetaMask').click()
  await expect(
    page
      .getByRole('alert')
      .filter({ hasText: text('Cancelled in {wallet}', { wallet: 'MetaMask' }) }),
  ).toContainText(text('Nothing was sent.'))
  await expectAccessible(page, 'checkout: rejected')
  expect(await countSent(chains, ethereum.address)).toBe(0)

  ethereum.signing = 'approve'
  await sign(page, 'MetaMask')
  await expectPaid(page)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

test('a rejection in a Solana wallet is the same', async ({ net, chains, buyer }) => {
  const { page, solana } = await buyer({ sol: 2 })
  await openCheckout(page, onSolana(net, '0.1'))
  await connectOnForm(page, 'Phantom')
  await review(page, 'Phantom')

  solana.signing = 'reject'
  await signButton(page, 'Phantom').click()
  await expect(
    page
      .getByRole('alert')
      .filter({ hasText: text('Cancelled in {wallet}', { wallet: 'Phantom' }) }),
  ).toContainText(text('Nothing was sent.'))

  solana.signing = 'approve'
  await signButton(page, 'Phantom').click()
  await expectPaid(page)
  // The airdrop and one payment.
  expect(await signaturesOf(chains, new PublicKey(solana.address))).toHaveLength(2)
})

test('a recipient changed by a lying proxy is blocked before the wallet opens', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, solana } = await buyer({ sol: 2 })
  const thief = randomKeypair().publicKey
  const seller = new PublicKey(net.wallets.seller.solana.address)
  await using proxy = await startLyingProxy(net.urls, {
    path: '/api/transaction/send',
    change: (body) => {
      const reply: unknown = JSON.parse(body)
      if (
        typeof reply !== 'object' ||
        reply === null ||
        !('transaction' in reply) ||
        typeof reply.transaction !== 'string'
      )
        throw new Error('No transaction to tamper with.')
      const bytes = Buffer.from(reply.transaction, 'base64')
      const at = bytes.indexOf(seller.toBuffer())
      if (at < 0) throw new Error('The transaction does not name the seller.')
      bytes.set(thief.toBytes(), at)
      return body.replace(reply.transaction, bytes.toString('base64'))
    },
  })
  const { to, network, amount } = onSolana(net, '0.1')
  await page.goto(`${proxy.url}/pay?${new URLSearchParams({ to, network, amount }).toString()}`)
  await connectOnForm(page, 'Phantom')
  await page.getByRole('button', { name: text('Review payment') }).click()

  await expect(page.getByRole('alert').filter({ hasText: text('Blocked') })).toContainText(
    text('The transaction differs.'),
  )
  const row = page.getByRole('row', { name: startingWith('To') })
  await expect(row).toContainText(seller.toBase58())
  await expect(row).toContainText(thief.toBase58())
  await expectAccessible(page, 'checkout: blocked')
  await expect(signButton(page, 'Phantom')).toHaveCount(0)
  expect(solana.requests).not.toContain('signTransaction')
  expect(await chains.solana.getBalance(thief)).toBe(0)
})

test('an amount changed by a lying proxy is blocked before the wallet opens, whatever its own words say', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  // 0.01 ether is 0x2386f26fc10000 wei; one more digit of it in the bytes, none in the JSON beside them.
  const honest = Buffer.from('2386f26fc10000', 'hex')
  const greedy = Buffer.from('2486f26fc10000', 'hex')
  await using proxy = await startLyingProxy(net.urls, {
    path: '/api/transaction/send',
    change: (body) => {
      const [, encoded = ''] = /"transaction":"([^"]+)"/.exec(body) ?? []
      const bytes = Buffer.from(encoded, 'base64')
      const at = bytes.indexOf(honest)
      if (at < 0) throw new Error('The transaction does not hold the amount.')
      bytes.set(greedy, at)
      return body.replace(encoded, bytes.toString('base64'))
    },
  })
  const { to, network, amount } = onEthereum(net, '0.01')
  await page.goto(`${proxy.url}/pay?${new URLSearchParams({ to, network, amount }).toString()}`)
  await connectOnForm(page, 'MetaMask')
  await page.getByRole('button', { name: text('Review payment') }).click()

  await expect(page.getByRole('alert').filter({ hasText: text('Blocked') })).toBeVisible()
  await expect(signButton(page, 'MetaMask')).toHaveCount(0)
  expect(ethereum.requests).not.toContain('eth_sendTransaction')
  expect(await countSent(chains, ethereum.address)).toBe(0)
})

test('a wallet that returns another transaction than was shown: nothing is broadcast', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, solana } = await buyer({ sol: 2 })
  const thief = randomKeypair().publicKey
  solana.mutate = (message) => {
    message.instructions = message.instructions.map((instruction) =>
      instruction.programId.equals(SystemProgram.programId)
        ? SystemProgram.transfer({
            fromPubkey: message.payerKey,
            toPubkey: thief,
            lamports: 100_000_000,
          })
        : instruction,
    )
    return message
  }
  await openCheckout(page, onSolana(net, '0.1'))
  await connectOnForm(page, 'Phantom')
  await review(page, 'Phantom')
  await signButton(page, 'Phantom').click()

  await expect(page.getByRole('alert').filter({ hasText: text('Blocked') })).toBeVisible()
  await expect(signButton(page, 'Phantom')).toHaveCount(0)
  expect(solana.signed).toHaveLength(1)
  expect(await chains.solana.getBalance(thief)).toBe(0)
  // Only the airdrop.
  expect(await signaturesOf(chains, new PublicKey(solana.address))).toHaveLength(1)
})

test('a wallet that sends another payment than was shown is never told as paid', async ({
  net,
  buyer,
  expectError,
}) => {
  // The service refuses the report of a transaction that is not the payment.
  expectError(/status of 400 .*\/api\/transaction\/submitted/)
  const { page, ethereum } = await buyer({ ether: '1' })
  ethereum.mutate = (transfer) => ({ ...transfer, to: privateKeyToAddress(randomPrivateKey()) })
  await openCheckout(page, onEthereum(net, '0.01'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()

  await expect(
    page.getByRole('heading', {
      name: oneOf(['Another payment was confirmed', 'Replaced by another transaction']),
    }),
  ).toBeVisible({ timeout: 30_000 })
  await expect(page.getByRole('heading', { name: text('Payment complete') })).toHaveCount(0)
  await expectAccessible(page, 'checkout: something else landed')
})

test('an account switched behind the page’s back is noticed before anything is signed', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  await openCheckout(page, onEthereum(net, '0.01'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')

  const first = ethereum.address
  await ethereum.switchAccount(1, false)
  await signButton(page, 'MetaMask').click()
  await expect(page.getByRole('heading', { name: text('Account changed') })).toBeVisible()
  await expectAccessible(page, 'checkout: another account')
  expect(ethereum.requests).not.toContain('eth_sendTransaction')

  await ethereum.switchAccount(0)
  await page.getByRole('button', { name: text('Prepare it again') }).click()
  await expectReviewed(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  expect(await countSent(chains, first)).toBe(1)
})

test('a wallet on another network is offered the right one, and pays there', async ({
  net,
  chains,
  buyer,
}) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  ethereum.forgetChain()
  await openCheckout(page, onEthereum(net, '0.01'))
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  // Settled before the transaction is built: adding a network uses up none of its minute.
  expect(ethereum.requests).toContain('wallet_addEthereumChain')
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)

  expect(ethereum.chainId).toBe(net.evm.chainId)
  expect(await countSent(chains, ethereum.address)).toBe(1)
})

test('a wallet that refuses the network has paid nothing', async ({ net, chains, buyer }) => {
  const { page, ethereum } = await buyer({ ether: '1' })
  ethereum.forgetChain()
  await openCheckout(page, onEthereum(net, '0.01'))
  await connectOnForm(page, 'MetaMask')
  ethereum.connecting = 'reject'
  await page.getByRole('button', { name: text('Review payment') }).click()

  await expect(page.getByRole('alert').filter({ hasText: text('Nothing was sent.') })).toBeVisible()
  expect(ethereum.requests).not.toContain('eth_sendTransaction')
  expect(await countSent(chains, ethereum.address)).toBe(0)
})

test('a balance below the amount is told in the form, to the last digit', async ({
  net,
  buyer,
}) => {
  const { page } = await buyer({ ether: '0.005' })
  await openCheckout(page, onEthereum(net, '0.01'))
  await connectOnForm(page, 'MetaMask')
  await expect(
    page.getByRole('group', { name: text('From') }).getByText(/^0\.005\s*ETH$/),
  ).toBeVisible()
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expect(
    page.getByText(
      text('You hold {held}. You need {lacking} more.', {
        held: '0.005 ETH',
        lacking: '0.005 ETH',
      }),
    ),
  ).toBeVisible()
  await expectAccessible(page, 'checkout: too little money')
})

test('a balance that covers the amount but not the fee is told before the wallet opens', async ({
  net,
  chains,
  buyer,
  expectError,
}) => {
  expectError(/status of 4\d\d/)
  const { page, solana } = await buyer({ sol: 1 })
  await openCheckout(page, onSolana(net, '0.99999999'))
  await connectOnForm(page, 'Phantom')
  await page.getByRole('button', { name: text('Review payment') }).click()

  await expect(page.getByRole('heading', { name: textLike('{amount} not prepared') })).toBeVisible()
  await expect(page.getByRole('alert')).toContainText(/enough|balance/i)
  // The same again would be refused again: the ways on are another payment, or more in this wallet.
  await expect(page.getByRole('button', { name: text('Try again') })).toHaveCount(0)
  await expect(page.getByText(text('Pay less, switch accounts, or add funds:'))).toContainText(
    solana.address.slice(-4),
  )
  await expectAccessible(page, 'checkout: not prepared')
  const checked = page.waitForResponse(/\/api\/transaction\/send/)
  await page.getByRole('button', { name: text('Check again') }).click()
  await checked
  await expect(page.getByRole('alert')).toContainText(
    textLike('Balance: {available}. Needed with fee: {required}. Missing: {missing}.'),
  )
  expect(solana.requests).not.toContain('signTransaction')
  expect(await signaturesOf(chains, new PublicKey(solana.address))).toHaveLength(1)
  await page.getByRole('button', { name: text('Change the payment') }).click()
  await page.getByLabel(text('Amount')).fill('0.5')
  await review(page, 'Phantom')
})

test('an address nobody sells at cannot be paid without signing in', async ({ net, buyer }) => {
  const { page } = await buyer({ ether: '1' })
  await openCheckout(page, {
    ...onEthereum(net, '0.01'),
    to: privateKeyToAddress(randomPrivateKey()),
  })
  await expect(
    page.getByText(text('This checkout pays only {seller}.', { seller: 'Paydesk' })),
  ).toBeVisible()
  await connectOnForm(page, 'MetaMask')
  await page.getByRole('button', { name: text('Review payment') }).click()
  await expect(page.getByLabel(text('To'), { exact: true })).toBeFocused()
  await expect(page).not.toHaveURL(/payment=/)
})

test('two wallets at once: each payment is signed by the wallet of its chain', async ({
  net,
  buyer,
}) => {
  const { page, ethereum, solana } = await buyer({ ether: '1', sol: 2 })
  await page.goto('/')
  await connect(page, 'MetaMask')
  await pay(page, 'Phantom', onSolana(net, '0.1'))
  expect(solana.signed).toHaveLength(1)
  expect(ethereum.sent).toHaveLength(0)
})

test('a recipient that is refused is explained with its figure, in three languages, from a wallet and from a managed wallet', async ({
  net,
  chains,
  seller,
  expectError,
}) => {
  expectError(/status of 400 .*\/api\/(transaction|hosted)\/send/)
  const { page, solana } = await seller()
  const speak = (language: string) =>
    page.evaluate(
      (chosen) => localStorage.setItem('paydesk.preferences', JSON.stringify({ language: chosen })),
      language,
    )
  const fresh = randomKeypair().publicKey
  const asked = { ...onSolana(net, '0.0005'), to: fresh.toBase58() }
  await page.goto('/links')
  await connect(page, 'Phantom')
  await page.getByRole('button', { name: textLike('Sign in as {address}') }).click()
  await expect(page.getByRole('button', { name: text('New link') })).toBeVisible()

  for (const { language, review, title, figure } of [
    {
      language: 'en',
      review: 'Review payment',
      title: 'Amount too small',
      figure: 'Send at least 0.00089088 SOL',
    },
    {
      language: 'es',
      review: 'Revisar el pago',
      title: 'Importe demasiado pequeño',
      figure: 'al menos 0,00089088 SOL',
    },
    {
      language: 'zh-CN',
      review: '核对付款',
      title: '金额过小',
      figure: '至少发送 0.00089088 SOL',
    },
  ]) {
    await speak(language)
    await page.goto(`/pay?${new URLSearchParams(asked).toString()}`)
    await expect(page.locator('html')).toHaveAttribute('lang', language)
    await page.getByRole('button', { name: review, exact: true }).click()
    const alert = page.getByRole('alert').filter({ hasText: title })
    await expect(alert).toContainText(figure)
    await expect(alert).not.toContainText('Received')
    if (language === 'en') await expectAccessible(page, 'checkout: recipient refused')
  }

  // A managed wallet pays at least 0.001 SOL, which opens any address: a program is refused there.
  await speak('es')
  await page.goto('/pay')
  await page.getByText('Monedero gestionado', { exact: true }).click()
  const managed = page.getByLabel('Desde el monedero gestionado')
  await managed.selectOption(
    (await managed.getByRole('option', { name: /SOL/ }).getAttribute('value')) ?? '',
  )
  await page.getByLabel('Para', { exact: true }).fill('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
  await page.getByLabel('Importe').fill('0,01')
  await page.getByRole('button', { name: 'Revisar el pago', exact: true }).click()
  await page.getByRole('button', { name: 'Firmar y pagar con Phantom' }).click()
  await expect(page.getByRole('heading', { name: 'Sin pagar' })).toBeVisible()
  await expect(
    page.getByRole('alert').filter({ hasText: 'El destinatario no es un monedero' }),
  ).toContainText('No se ha enviado nada.')
  await expectAccessible(page, 'managed wallet: recipient refused')

  expect(solana.signed).toHaveLength(0)
  expect(await chains.solana.getBalance(fresh)).toBe(0)
})
