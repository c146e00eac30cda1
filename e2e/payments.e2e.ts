import type { Page } from '@playwright/test'
import { parseUnits } from 'viem'
import { pauseMining } from './chain.ts'
import {
  connectOnForm,
  expectPaid,
  expectReviewed,
  openCheckout,
  pay,
  review,
  signButton,
} from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { onEthereum } from './orders.ts'
import { downloaded, paymentRows, paymentTable, signIn, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

test('a seller narrows the list, keeps the filters as a view, deletes it and takes that back', async ({
  net,
  seller,
}) => {
  const page = await signInByApi(await seller(), net)
  await expect(paymentRows(page).first()).toBeVisible()

  await page.getByRole('button', { name: text('Any status') }).click()
  await page.getByRole('checkbox', { name: text('Expired') }).check()
  await page.getByRole('checkbox', { name: text('Failed') }).check()
  await expectAccessible(page, 'payments: filter of statuses')
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/status=expired%2Cfailed/)
  await expect(paymentRows(page).getByText(text('Finalized'), { exact: true })).toHaveCount(0)

  await page.getByRole('button', { name: text('Any amount') }).click()
  await page.getByLabel(text('Asset')).selectOption('ETH')
  await page.getByLabel(text('At least')).fill('0.001')
  await expectAccessible(page, 'payments: filter of amounts')
  const narrowed = page.waitForResponse(/\/api\/payments\?.*minAmount=/)
  await page.getByRole('button', { name: text('Apply') }).click()
  await expect(page).toHaveURL(/asset=ETH&min=0\.001/)
  await narrowed
  await expect(
    paymentRows(page)
      .first()
      .or(page.getByText(text('Nothing found'))),
  ).toBeVisible()
  await expect(paymentRows(page).filter({ hasText: 'SOL' })).toHaveCount(0)

  await page.getByRole('button', { name: text('Save view') }).click()
  await page.getByLabel(text('Name')).fill('Lost sales')
  await expectAccessible(page, 'payments: view to save')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: text('Save view') })
    .click()
  const view = page
    .getByRole('navigation', { name: text('Views') })
    .getByRole('link', { name: 'Lost sales' })
  await expect(view).toHaveAttribute('aria-current', 'page')

  // When a filter is removed, the control that takes its place gets the focus.
  const filters = page.getByRole('search').getByRole('list', { name: text('Filters') })
  await filters
    .getByRole('button', { name: /Remove/ })
    .first()
    .press('Enter')
  await expect(page).not.toHaveURL(/status=/)
  await expect(page.getByRole('search').locator(':focus')).toHaveCount(1)
  await page.getByRole('button', { name: text('Clear filters') }).press('Enter')
  await expect(page).toHaveURL(/\/payments$/)
  await expect(page.getByRole('search').locator(':focus')).toHaveCount(1)
  await view.click()
  await expect(page).toHaveURL(/status=expired%2Cfailed/)
  await page.getByRole('button', { name: text('Delete view') }).press('Enter')
  await expect(view).toHaveCount(0)
  await expect(page.getByRole('button', { name: text('Save view') })).toBeFocused()
  await page.getByRole('button', { name: text('Undo') }).click()
  await expect(view).toBeVisible()
})

test('a list that is filtered to nothing says so and leads back', async ({ net, seller }) => {
  const page = await signInByApi(await seller(), net, '/payments?q=nobody-ever-wrote-this')
  await expect(page.getByText(text('Nothing found'))).toBeVisible()
  await expectAccessible(page, 'payments: nothing found')
  await page
    .getByRole('button', { name: text('Clear filters') })
    .first()
    .click()
  await expect(paymentRows(page).first()).toBeVisible()
})

test('the usual columns fit every width at which the list is a table', async ({ net, seller }) => {
  const page = await signInByApi(await seller(), net)
  const table = paymentTable(page)
  // Other stories write labels.
  await page.route('**/api/notes/read', (route) => route.fulfill({ json: { notes: [] } }))
  await page.reload()
  await expect(paymentRows(page).first()).toBeVisible()
  for (const width of [1440, 1280, 1100, 1024, 900, 768]) {
    await page.setViewportSize({ width, height: 900 })
    await expect(table.getByRole('columnheader', { name: text('Date') })).toBeInViewport({
      ratio: 1,
    })
    // No payment has a label, and a customer stands once in a row.
    await expect(table.getByRole('columnheader', { name: text('Labels') })).toHaveCount(0)
    await expect(table.getByRole('columnheader', { name: text('Customer') })).toHaveCount(0)
    await expect
      .poll(() =>
        table.evaluate(({ parentElement: box }) =>
          box ? box.scrollWidth - box.clientWidth : undefined,
        ),
      )
      .toBe(0)
  }
  // Chosen columns stay, and the list scrolls in its own box.
  await page.getByRole('button', { name: text('Columns') }).click()
  await page.getByRole('checkbox', { name: text('Labels') }).check()
  await page.getByRole('checkbox', { name: text('Transaction') }).check()
  await expect(table.getByRole('columnheader', { name: text('Labels') })).toHaveCount(1)
  expect(
    await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    ),
  ).toBe(0)
})

test('a resource is found without its scheme', async ({ net, seller }) => {
  const page = await signInByApi(await seller(), net)
  const cell = paymentTable(page)
    .locator('td', { hasText: /^\/\S+ · [a-z0-9.-]+(:\d+)?$/ })
    .first()
  const [path = '', host = ''] = (await cell.innerText()).split(' · ')
  const resource = host + path
  const found = page.waitForResponse(/\/api\/payments\?(?:.*&)?q=/)
  await page.getByRole('searchbox', { name: text('Search payments') }).fill(resource)
  await found
  await expect(page).toHaveURL(/q=/)
  await expect(paymentRows(page).first()).toContainText(path)
})

test('rows are picked by keyboard, labelled, marked, and exported exactly', async ({
  net,
  seller,
}) => {
  const page = await signInByApi(await seller(), net)
  // Wide enough for the labels.
  await page.setViewportSize({ width: 1440, height: 900 })
  await expect(paymentRows(page).nth(4)).toBeVisible()
  await page.keyboard.press('j')
  await expect(paymentRows(page).nth(0).getByRole('link').first()).toBeFocused()
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await expect(paymentRows(page).nth(2).getByRole('link').first()).toBeFocused()
  await page.keyboard.press('Shift+X')
  const bar = page.getByRole('region', { name: text('Selected payments') })
  await expect(bar).toContainText(text('{some} selected', { some: '3' }))
  await expectAccessible(page, 'payments: some selected')

  await bar.getByRole('button', { name: text('Label') }).click()
  await page.getByRole('dialog').getByLabel(text('Label'), { exact: true }).fill('=rent')
  await expectAccessible(page, 'payments: label to add')
  await page.getByRole('button', { name: text('Add'), exact: true }).click()
  await expect(paymentRows(page).nth(1)).toContainText('=rent')
  await expect(paymentRows(page).nth(3)).not.toContainText('=rent')
  await bar.getByRole('button', { name: text('Mark reconciled') }).click()
  await expect(paymentRows(page).nth(2)).toContainText(text('Reconciled'))

  await bar.getByRole('button', { name: text('Export') }).click()
  await expectAccessible(page, 'payments: export')
  const ids = await paymentRows(page).evaluateAll((rows) =>
    rows.slice(0, 3).map((row) => row.getAttribute('data-payment-row')),
  )
  const exported = await downloaded(page, () =>
    page
      .getByRole('button', {
        name: text('{count, plural, one {Export # payment} other {Export # payments}}', {
          count: 3,
        }),
      })
      .click(),
  )
  expect(exported.name).toMatch(/^payments-.*\.csv$/)
  const lines = exported.text.trim().split('\r\n')
  expect(lines).toHaveLength(4)
  for (const [index, id] of ids.entries()) expect(lines[index + 1]).toContain(id)
  expect(lines[1]).toContain("'=rent")
  await page.keyboard.press('Escape')
  await expect(bar).toHaveCount(0)

  // By label and by books: in the URL, exactly those, and the file contains what the list shows.
  await page.getByRole('button', { name: text('Any label') }).click()
  await page.getByLabel(text('Label'), { exact: true }).selectOption('=rent')
  await page.getByLabel(text('Reconciled')).selectOption('yes')
  await expectAccessible(page, 'payments: filter of labels')
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/label=%3Drent&reconciled=yes/)
  await expect(page.getByText('3 payments', { exact: true })).toBeVisible()
  await expect(paymentRows(page)).toHaveCount(3)
  await page.getByRole('button', { name: text('Export'), exact: true }).click()
  const filtered = await downloaded(page, () =>
    page
      .getByRole('button', {
        name: text('{count, plural, one {Export # payment} other {Export # payments}}', {
          count: 3,
        }),
      })
      .click(),
  )
  for (const id of ids) expect(filtered.text).toContain(id)
  expect(filtered.text.trim().split('\r\n')).toHaveLength(4)
  await page.goto('/payments?label=%3Drent&reconciled=no')
  await expect(page.getByText(text('Nothing found'))).toBeVisible()
})

test('a selected payment is exported as it is at that time, not as it was selected', async ({
  net,
  chains,
  buyer,
  seller,
}) => {
  test.slow()
  const payer = await buyer({ ether: '1' })
  const page = await signInByApi(await seller(), net, '/payments')
  await openCheckout(payer.page, onEthereum(net, '0.0437'))
  await connectOnForm(payer.page, 'MetaMask')
  await review(payer.page, 'MetaMask')
  await using chain = await pauseMining(chains)
  const reported = payer.page.waitForResponse(/\/api\/transaction\/submitted/)
  await signButton(payer.page, 'MetaMask').click()
  await reported
  await page.goto('/payments?q=amount:0.0437')
  const row = paymentRows(page).first()
  await expect(row).toContainText(text('Pending'), { timeout: 30_000 })
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  const bar = page.getByRole('region', { name: text('Selected payments') })
  await expect(bar).toBeVisible()

  const exported = async () => {
    await bar.getByRole('button', { name: text('Export') }).click()
    await page.getByText('hledger', { exact: true }).click()
    const file = await downloaded(page, () =>
      page.getByRole('dialog').getByRole('button', { name: 'Export 1 payment' }).click(),
    )
    return file.text
  }
  expect(await exported()).not.toContain('income:sales')
  await chain.mine()
  await chain.mine()
  await expect(row).toContainText(text('Confirmed'), { timeout: 30_000 })
  expect(await exported()).toMatch(/income:sales {2}-0\.0437/)
  await chain.takeBack(2)
  await expect(row).toContainText(/rolled back/i, { timeout: 30_000 })
  expect(await exported()).not.toContain('income:sales')
})

test('an export of the filter holds all of it, as JSON', async ({ net, seller }) => {
  const page = await signInByApi(await seller(), net, '/payments?type=received')
  await expect(paymentRows(page).first()).toBeVisible()
  const total = Number((await page.getByText(/^[0-9,]+ payments$/).innerText()).replace(/\D/g, ''))
  await page.getByRole('button', { name: text('Export'), exact: true }).click()
  await page.getByText('JSON', { exact: true }).click()
  const exported = await downloaded(page, () =>
    page
      .getByRole('button', {
        name: text('{count, plural, one {Export # payment} other {Export # payments}}', {
          count: total,
        }),
      })
      .click(),
  )
  const rows = JSON.parse(exported.text) as {
    direction: string
    payment_id: string
    status: string
  }[]
  expect(rows).toHaveLength(total)
  expect(new Set(rows.map(({ payment_id }) => payment_id)).size).toBe(total)
  expect(rows.every(({ direction }) => direction === 'received')).toBe(true)

  await page.getByRole('button', { name: text('Export'), exact: true }).click()
  await page.getByText('hledger', { exact: true }).click()
  await expectAccessible(page, 'payments: export for hledger')
  const paid = rows.filter(({ status }) => status === 'confirmed' || status === 'finalized')
  const failed = rows.filter(({ status }) => status === 'failed')
  const journal = await downloaded(page, () =>
    page
      .getByRole('button', {
        name: text('{count, plural, one {Export # payment} other {Export # payments}}', {
          count: paid.length + failed.length,
        }),
      })
      .click(),
  )
  expect(journal.name).toMatch(/^payments-.*\.journal$/)
  const posted = journal.text.split('\n').filter((line) => line.startsWith('    income:sales  -'))
  expect(posted).toHaveLength(paid.length)
})

test('after midnight, a list of today holds the new day, and a file of it too', async ({
  net,
  seller,
}) => {
  const page = await signInByApi(await seller(), net)
  await page.clock.install()
  await page.goto('/payments?when=today')
  await expect(paymentRows(page).first()).toBeVisible()
  const dialog = page.getByRole('dialog')
  const open = () => page.getByRole('button', { name: text('Export'), exact: true }).click()
  await open()
  const action = dialog.getByRole('button', { name: textLike('Export') })
  const counted = await action.innerText()

  // A file that is being made keeps its days.
  await page.clock.fastForward('24:00:00')
  await expect(action).toHaveText(counted)
  await dialog.getByRole('button', { name: text('Cancel') }).click()
  await expect(page.getByText(text('Nothing found'))).toBeVisible()
  await open()
  await expect(action).toBeDisabled()
})

test('a payment is refunded through the same review, and never more than was received', async ({
  net,
  buyer,
  seller,
  chains,
}) => {
  const payer = await buyer({ ether: '1' })
  const order = { ...onEthereum(net, '0.0417'), description: 'Two cups', reference: 'ORDER-77' }
  await pay(payer.page, 'MetaMask', order)
  const shop = await seller()
  const page = await signIn(shop)
  await paymentRows(page).filter({ hasText: '0.0417' }).getByRole('link').first().click()
  await expect(page.getByText(text('Refundable'))).toBeVisible()
  // What a merchant looks for is first, and the payer's address is there once.
  expect((await page.getByRole('main').getByRole('term').allTextContents()).slice(0, 5)).toEqual(
    ['Description', 'Reference', 'Customer', 'From', 'To'].map((name) => text(name)),
  )
  await expect(page.getByRole('definition').filter({ hasText: text('All payments') })).toHaveText(
    text('All payments'),
  )
  await expectAccessible(page, 'payment: can be refunded')
  const amount = page.getByLabel(text('Amount'))
  await expect(amount).toHaveValue('0.0417')
  await expect(amount).toHaveAccessibleDescription(textLike('about {price}'))

  // On a phone the form is far below: one press from the heading leads to it.
  await page.setViewportSize({ width: 390, height: 844 })
  const refund = page.getByRole('button', { name: text('Refund'), exact: true })
  await expect(refund).toBeInViewport({ ratio: 1 })
  await expect(amount).not.toBeInViewport()
  await refund.click()
  const heading = page.getByRole('heading', { name: text('Refund'), exact: true })
  await expect(heading).toBeInViewport({ ratio: 1 })
  await expect(heading.locator('span')).toBeFocused()
  await expect(amount).toBeInViewport({ ratio: 1 })
  await page.setViewportSize({ width: 1440, height: 900 })

  await page.getByLabel(text('Amount')).fill('0.0418')
  await page.getByRole('button', { name: text('Review refund') }).click()
  await expect(
    page.getByText(text('At most {left} can be refunded.', { left: '0.0417 ETH' })),
  ).toBeVisible()
  await page.getByLabel(text('Amount')).fill('0.0417')
  await page.getByLabel(textLike('Reason')).fill('Out of stock.')
  // Two activations and a signature.
  await page.getByRole('button', { name: text('Review refund') }).click()
  await expectReviewed(page, 'MetaMask')
  // Beside the transaction as well as above the form.
  await expect(page.getByRole('heading', { name: textLike('Refund of <0><1/></0>') })).toBeVisible()
  const { address } = payer.ethereum
  const before = await chains.evm.getBalance({ address })
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  expect((await chains.evm.getBalance({ address })) - before).toBe(41_700_000_000_000_000n)

  await page.goto('/payments?type=received')
  const returned = paymentRows(page).filter({ hasText: '0.0417' }).last()
  await expect(returned.getByText(text('Refunded'), { exact: true })).toBeVisible()
  await returned.getByRole('link').first().click()
  await expect(page.getByRole('term').getByText(text('Refunded'), { exact: true })).toBeVisible()
  await expect(
    page.getByRole('heading', { level: 1 }).getByText(text('Refunded'), { exact: true }),
  ).toBeVisible()
  await expect(page.getByRole('button', { name: text('Review refund') })).toHaveCount(0)

  // The refund says why, in words that are the merchant's.
  await page.getByRole('listitem').filter({ hasText: '0.0417' }).getByRole('link').click()
  await expect(page.getByRole('term').getByText(text('Reason'), { exact: true })).toBeVisible()
  await expect(page.getByText('Out of stock.')).toBeVisible()
  await expect(page.getByText(text('From the payer (unverified)'))).toHaveCount(0)
  // A refund is not refunded.
  await expect(heading).toHaveCount(0)
  await expect(refund).toHaveCount(0)
})

/** Tabs, or a list where stories before this one paid in more assets than fit. */
async function chooseAnotherAsset(page: Page): Promise<string> {
  const asset = text('Asset')
  const tabs = page.getByRole('group', { name: asset, exact: true })
  const list = page.getByRole('combobox', { name: asset, exact: true })
  await expect(tabs.or(list)).toBeVisible()
  if (await list.isVisible()) {
    const name = await list.getByRole('option').nth(1).innerText()
    await list.selectOption({ label: name })
    return name
  }
  const tab = tabs.locator('label').filter({ has: page.getByRole('radio', { checked: false }) })
  const name = await tab.first().innerText()
  await tab.first().click()
  return name
}

test('the figures of an asset add up, and a bar of the chart leads to the payments that make its sums', async ({
  net,
  seller,
}) => {
  const page = await signInByApi(await seller(), net, '/')
  const name = await chooseAnotherAsset(page)
  await expect(page).toHaveURL(new RegExp(`asset=${name.split(' ')[0]}`))
  await expect(page.getByRole('heading', { level: 2, name })).toBeVisible()

  // Every figure shows all its digits to who points at it.
  const figure = async (term: string) => {
    const found = page
      .locator('dl > div')
      .filter({ has: page.getByRole('term').filter({ hasText: new RegExp(`^${term}(?![a-z])`) }) })
      .getByRole('definition')
      .first()
    const [exact, shown] = [
      await found.locator('[title]').first().getAttribute('title'),
      await found.innerText(),
    ]
    return atomicOf(exact) * (shown.startsWith('−') ? -1n : 1n)
  }
  const [received, sent, refunded, fees] = [
    await figure(text('Received')),
    await figure(text('Sent')),
    await figure(text('Refunded')),
    await figure(text('Network fees')),
  ]
  expect(received).toBeGreaterThan(0n)
  expect(await figure(text('Net'))).toBe(received - sent - refunded - fees)

  // A past day on which money came and went: nothing that other stories pay is in it.
  await page.getByRole('button', { name: text('Show table') }).click()
  const days = page.getByRole('table', { name: textLike('{symbol} on {name}') })
  const rows = await days
    .getByRole('row')
    .filter({ has: page.getByRole('link') })
    .all()
  let chosen: { fromEnd: number; sums: bigint[] } | undefined
  let whole = 0n
  for (const [fromEnd, row] of rows.entries()) {
    const sums = await Promise.all(
      (await row.locator('td [title]').all()).map(async (each) =>
        atomicOf(await each.getAttribute('title')),
      ),
    )
    whole += sums[0] ?? 0n
    if (!chosen && fromEnd > 1 && sums[0] && sums[1]) chosen = { fromEnd, sums }
  }
  expect(whole).toBe(received)
  if (!chosen) throw new Error('On no day of the chart did money come and go.')

  await page.getByRole('button', { name: text('Show bars') }).click()
  const chart = page.getByRole('slider', {
    name: textLike('{label}. Enter shows the payments.'),
  })
  await chart
    .locator('svg g')
    .nth(rows.length - 1 - chosen.fromEnd)
    .click()
  await expect(page).toHaveURL(/\/payments\?.*zone=utc/)
  // A list draws its rows a few per frame.
  await expect.poll(() => sumsOf(page)).toEqual(chosen.sums.slice(0, 2))
})

/** What the rows in view say was received, and what was sent. */
async function sumsOf(page: Page): Promise<bigint[]> {
  const listed = await Promise.all(
    (await paymentRows(page).all()).map(async (row) => ({
      amount: atomicOf(await row.locator('[title]').first().getAttribute('title')),
      words: await row.innerText(),
    })),
  )
  return [text('Received'), text('Sent')].map((direction) =>
    listed
      .filter(({ words }) => words.includes(direction))
      .reduce((sum, { amount }) => sum + amount, 0n),
  )
}

/** `1,234.5 SOL` in units that are small enough for every asset. */
function atomicOf(title: string | null): bigint {
  return parseUnits((title ?? '').replace(/ .*$/, '').replaceAll(',', ''), 18)
}
