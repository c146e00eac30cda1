import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { downloaded, signIn, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

test('a key is made, shown once, works, is rotated with a countdown, and deleted by its name', async ({
  net,
  seller,
}) => {
  test.slow()
  const person = await seller()
  const page = await signIn(person, '/developers')
  await page.getByLabel(text('Network'), { exact: true }).selectOption({ label: 'Local Solana' })
  await page.getByRole('button', { name: text('Create API key') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(text('Name')).fill('Till one')
  await dialog.getByRole('button', { name: text('Create API key') }).click()

  // The wallet's word is asked for, over these very terms; without it there is no key.
  // What the server on this page needs is granted without another choice.
  await expect(dialog.getByText(/May: payment:read, payment:receive(?!,)/)).toBeVisible()
  await expect(dialog.getByText('Name: "Till one"')).toBeVisible()
  await expectAccessible(page, 'developers: key to sign for')
  person.ethereum.signing = 'reject'
  await dialog
    .getByRole('button', { name: text('Sign with {walletName}', { walletName: 'MetaMask' }) })
    .click()
  await expect(
    dialog.getByText(text('Cancelled in {wallet}', { wallet: 'MetaMask' })),
  ).toBeVisible()
  person.ethereum.signing = 'approve'
  await dialog
    .getByRole('button', { name: text('Sign with {walletName}', { walletName: 'MetaMask' }) })
    .click()
  await expect(dialog.getByRole('heading', { name: text('Copy your key now') })).toBeVisible()
  await expectAccessible(page, 'developers: key shown once')
  await page.keyboard.press('Escape')
  await expect(dialog.getByRole('button', { name: text('Done') })).toBeDisabled()
  await dialog.getByRole('button', { name: text('Show') }).click()
  const key = (await dialog.getByLabel(text('API key')).innerText()).trim()
  // Every network of this installation is a test network.
  expect(key).toMatch(/^pk_test_/)
  const download = dialog.getByRole('button', {
    name: text('Download {ENV_FILE}', { ENV_FILE: 'paydesk.env' }),
  })
  const file = await downloaded(page, () => download.click())
  expect(file.name).toBe('paydesk.env')
  expect(file.text).toContain(`PAYDESK_KEY=${key}\n`)
  // The example on this page is for Solana.
  expect(file.text).toContain(`PAY_TO=${net.wallets.seller.solana.address}\n`)
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const answer = await fetch(`${net.urls.service}/payments?limit=1`, { headers })
  expect(answer.status).toBe(200)
  const proof = await fetch(`${net.urls.service}/payment/receive`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      walletAddress: net.wallets.seller.evm.address,
      paymentProof: 'none',
      expectedAmount: 0.01,
    }),
  })
  expect(await proof.json()).toMatchObject({ error: { code: 'INVALID_PAYMENT_PROOF' } })
  await dialog.getByLabel(text('I have stored it.')).check()
  await dialog.getByRole('button', { name: text('Done') }).click()

  const row = page.getByRole('row').filter({ hasText: 'Till one' })
  await expect(row).toBeVisible()
  expect(await page.content()).not.toContain(key)

  await page.getByRole('button', { name: text('Actions for {name}', { name: 'Till one' }) }).click()
  await page.getByRole('menuitem', { name: text('Rotate') }).click()
  await expectAccessible(page, 'developers: key to rotate')
  await dialog.getByRole('button', { name: text('Rotate') }).click()
  await expect(dialog.getByText('The old key works on for: 3600 seconds')).toBeVisible()
  await dialog
    .getByRole('button', { name: text('Sign with {walletName}', { walletName: 'MetaMask' }) })
    .click()
  await dialog.getByLabel(text('I have stored it.')).check()
  await dialog.getByRole('button', { name: text('Done') }).click()
  await expect(row.filter({ hasText: textLike('expires {time}') })).toHaveCount(1)

  await page
    .getByRole('button', { name: text('Actions for {name}', { name: 'Till one' }) })
    .last()
    .click()
  await page.getByRole('menuitem', { name: text('Delete') }).click()
  await dialog.getByLabel(textLike('Type <0>{name}</0> to confirm')).fill('Till')
  await expect(dialog.getByRole('button', { name: text('Delete') })).toBeDisabled()
  await expectAccessible(page, 'developers: key to delete')
  await dialog.getByLabel(textLike('Type <0>{name}</0> to confirm')).fill('Till one')
  await dialog.getByRole('button', { name: text('Delete') }).click()
  await expect(dialog).toBeHidden()
  await page
    .getByText(textLike('{0, plural, one {# inactive key} other {# inactive keys}}', { 0: 1 }))
    .click()
  await expect(row.filter({ hasText: text('Deleted') })).toHaveCount(1)

  // The log says which key it was, not its id.
  await page.goto('/people')
  const entry = page.getByRole('row').filter({ hasText: text('API key deleted') })
  await expect(entry).toContainText('Till one')
})

test('the quota and the usage are there, for eyes and for a keyboard', async ({ net, seller }) => {
  const page = await signInByApi(await seller(), net, '/developers')
  const meter = page.getByRole('meter', { name: text('API quota') })
  await expect(meter).toHaveAttribute('aria-valuemax', '1000')
  const chart = page.getByRole('slider', { name: text('Requests') })
  await chart.focus()
  await page.keyboard.press('End')
  await expect(chart).toHaveAttribute('aria-valuetext', /answered/)
  await page.getByRole('button', { name: text('Show table') }).click()
  await expect(page.getByRole('table', { name: text('Requests') })).toBeVisible()
  await expectAccessible(page, 'developers: keys and usage')
})

test('a refused request is found by the id that its error shows, without what it hides', async ({
  net,
  seller,
}) => {
  const page = await signInByApi(await seller(), net, '/developers')
  const proxy = net.urls.bff.replace('127.0.0.1', 'localhost')
  const answer = await page.request.get(`${proxy}/api/payment/status/pay_1111111111111111111111`)
  const { error } = await answer.json()
  const list = page.getByRole('list', { name: text('Requests') })
  await page.getByRole('checkbox', { name: text('Errors only') }).check()
  await page.getByLabel(text('Request ID'), { exact: true }).fill(String(error.requestId))
  await expect(list.getByRole('listitem')).toHaveCount(1)
  await expect(list).toContainText('GET /payment/status/pay_1111111111111111111111')
  await list.locator('summary').click()
  await expect(page.getByRole('region', { name: text('Response') })).toContainText(
    '"code":"NOT_FOUND"',
  )
  await expectAccessible(page, 'developers: a refused request')
})

test('the first server is ready to copy, with the network, the service and the wallet of the reader', async ({
  net,
  seller,
}) => {
  const page = await signInByApi(await seller(), net, '/developers')
  const example = page.getByRole('region', { name: text('Example') })
  await expect(example).toContainText("network: 'eip155:31337'")
  const reference = page.getByRole('link', { name: text('API reference') })
  const target = await page.request.get((await reference.getAttribute('href')) ?? '')
  expect(await target.text()).toContain('<title>Paydesk API reference</title>')
  const network = page.getByLabel(text('Network'), { exact: true })
  await network.selectOption({ label: 'Local Solana' })
  await expect(example).toContainText("amount: '10000000'")
  await page.getByText('paydesk.env', { exact: true }).click()
  await expect(example).toHaveText(
    `PAYDESK_URL=${net.urls.service.replace('127.0.0.1', 'localhost')} PAYDESK_KEY=pk_test_… PAY_TO=${net.wallets.seller.solana.address} PORT=3000 `,
  )
  await network.selectOption({ label: 'Local Ethereum' })
  await expect(example).toContainText(net.wallets.seller.evm.address)
  await page.getByText('Shell', { exact: true }).click()
  await expect(example).toContainText('node --env-file=paydesk.env server.ts')
})

test('a wallet without a role is told so', async ({ buyer }) => {
  const page = await signIn(await buyer({ ether: '1' }), '/developers')
  await expect(page.getByText(text('Sign in with a wallet that has a role.'))).toBeVisible()
  await expectAccessible(page, 'developers: not the operator')
})

test('keys are made, rotated and deleted with the keyboard alone, and the focus comes back to where it was', async ({
  seller,
}) => {
  test.slow()
  const page = await signIn(await seller(), '/developers')
  const { keyboard } = page
  const dialog = page.getByRole('dialog')
  const actions = page.getByRole('button', {
    name: text('Actions for {name}', { name: 'Night shift' }),
  })
  const storeKey = async () => {
    await tabTo(
      dialog.getByRole('button', {
        name: text('Sign with {walletName}', { walletName: 'MetaMask' }),
      }),
    )
    await keyboard.press('Enter')
    await expect(dialog.getByRole('heading', { name: text('Copy your key now') })).toBeVisible()
    await tabTo(dialog.getByLabel(text('I have stored it.')))
    await keyboard.press('Space')
    await tabTo(dialog.getByRole('button', { name: text('Done') }))
    await keyboard.press('Enter')
    await expect(dialog).toBeHidden()
  }

  const create = page.getByRole('button', { name: text('Create API key') })
  await tabTo(create)
  await keyboard.press('Enter')
  await tabTo(dialog.getByLabel(text('Name')))
  await keyboard.press('Escape')
  await expect(create).toBeFocused()
  await keyboard.press('Enter')
  await tabTo(dialog.getByLabel(text('Name')))
  await keyboard.type('Night shift')
  await tabTo(dialog.getByRole('button', { name: text('Create API key') }))
  await keyboard.press('Enter')
  await storeKey()
  await expect(create).toBeFocused()

  await tabTo(actions)
  await keyboard.press('Enter')
  await expect(page.getByRole('menuitem', { name: text('Rotate') })).toBeFocused()
  await keyboard.press('Enter')
  await tabTo(dialog.getByRole('button', { name: text('Rotate') }))
  await keyboard.press('Enter')
  await storeKey()

  await tabTo(actions.last())
  await keyboard.press('Enter')
  await keyboard.press('ArrowDown')
  await expect(page.getByRole('menuitem', { name: text('Delete') })).toBeFocused()
  await keyboard.press('Enter')
  await tabTo(dialog.getByLabel(textLike('Type <0>{name}</0> to confirm')))
  await keyboard.type('Night shift')
  await tabTo(dialog.getByRole('button', { name: text('Delete') }))
  await keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  // What was pressed is gone with its row: what takes its place has the focus.
  await expect(actions).toHaveCount(1)
  await expect(page.getByRole('region', { name: text('API keys') }).locator(':focus')).toHaveCount(
    1,
  )
})
