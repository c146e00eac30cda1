import { expectAbsent } from './absent.ts'
import { connectOnLink, expectPaid, expectReviewed, signButton } from './checkout.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { downloaded, signIn, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNIc1H6DwADrAHMp2r22QAAAABJRU5ErkJggg=='

test('a seller makes a product and an invoice of it, a buyer pays, and it is paid and printed', async ({
  seller,
  buyer,
}) => {
  test.slow()
  const page = await signIn(await seller(), '/products')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: text('New product') }).click()
  await dialog.getByLabel(text('Name')).fill('Winter tea')
  await dialog.getByLabel(text('Currency')).selectOption('ETH')
  await dialog.getByLabel(text('Price')).fill('0.01')
  const file = { name: 'tea.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') }
  await dialog.getByLabel(text('Picture')).setInputFiles(file)
  await expect(dialog.getByRole('button', { name: text('Remove') })).toBeVisible()
  await expectAccessible(page, 'products: new one')
  await dialog.getByRole('button', { name: text('Save') }).click()
  const row = page.getByRole('listitem').filter({ hasText: 'Winter tea' })
  await expect(row).toContainText('0.01 ETH')
  await expect(row.locator('img')).toHaveAttribute('src', /^data:image\/(webp|png);base64,/)
  await expectAccessible(page, 'products: list')

  // A link in two activations.
  await row.getByRole('link', { name: text('Create link') }).click()
  await dialog.getByRole('button', { name: text('Create link') }).click()
  const link = await dialog.getByText(/^https?:\/\//).innerText()
  const visitor = await buyer({ ether: '1' })
  await visitor.page.goto(link)
  await expect(visitor.page.locator('[data-item]')).toContainText(/(?<!× )0\.01 ETH/)
  await expect(visitor.page.locator('[data-item] img')).toHaveAttribute('src', /^data:image\//)
  await connectOnLink(visitor.page, 'MetaMask')
  await expect(visitor.page.locator('[data-item]')).toContainText('Winter tea')

  await page.goto('/invoices')
  await page.getByRole('button', { name: text('Seller details') }).click()
  await dialog.getByLabel(text('Tax number')).fill('ES B1')
  await dialog.getByRole('button', { name: text('Save') }).click()
  const sellerName = dialog.getByRole('textbox', { name: text('Name') })
  await expect(sellerName).toHaveAccessibleDescription(text('Enter a name.'))
  await sellerName.fill('Tea Ltd')
  await dialog.getByLabel(text('Address')).fill('1 Quay')
  await expectAccessible(page, 'invoices: seller')
  await dialog.getByRole('button', { name: text('Save') }).click()
  await expect(dialog).toHaveCount(0)
  await page.getByRole('button', { name: text('New invoice') }).click()
  await dialog.getByRole('textbox', { name: text('Customer') }).fill('Ana Q.')
  await dialog.getByLabel(text('Address')).fill('2 Hill')
  await dialog.getByLabel(text('Currency')).selectOption('ETH')
  await dialog.getByLabel(text('Add a product')).selectOption({ label: 'Winter tea' })
  await dialog.getByLabel(text('Quantity')).fill('3')
  await dialog.getByLabel(text('Tax rate')).fill('10')
  // What the proxy will count, before anything is saved.
  const sums = dialog.getByRole('table', { name: text('Total') })
  await expect(sums.getByRole('row')).toHaveText([/0\.03 ETH$/, /10%0\.003 ETH$/, /0\.033 ETH$/])
  await dialog.getByLabel(text('Tax rate')).fill('ten')
  await expect(sums).toHaveCount(0)
  await dialog.getByLabel(text('Tax rate')).fill('10')
  await expectAccessible(page, 'invoices: new one')
  await dialog.getByRole('button', { name: text('Save draft') }).click()
  // Nothing is issued that would be overdue at once.
  await page.getByRole('button', { name: text('Edit'), exact: true }).click()
  const dueOn = await dialog.getByLabel(text('Due date')).inputValue()
  await dialog.getByLabel(text('Due date')).fill('2026-01-31')
  await expect(dialog.getByText('Jan 31, 2026', { exact: true })).toBeVisible()
  await dialog.getByRole('button', { name: text('Save draft') }).click()
  await page.getByRole('button', { name: text('Issue invoice') }).click()
  await expect(dialog).toContainText('Due: Jan 31, 2026.')
  await expect(dialog.getByRole('button', { name: text('Issue invoice') })).toBeDisabled()
  await dialog.getByRole('button', { name: text('Cancel') }).click()
  await page.getByRole('button', { name: text('Edit'), exact: true }).click()
  await dialog.getByLabel(text('Due date')).fill(dueOn)
  await dialog.getByRole('button', { name: text('Save draft') }).click()
  await page.getByRole('button', { name: text('Issue invoice') }).click()
  await dialog.getByRole('button', { name: text('Issue invoice') }).click()
  const heading = page.getByRole('heading', { level: 1 })
  await expect(heading).toHaveText(/INV-[0-9]{4}$/)
  const number = (await heading.innerText()).replace(/^.* /, '')
  await expectAccessible(page, 'invoices: open')
  const parties = page.locator('address')
  await expect(parties).toHaveText([/Tea Ltd1 QuayTax number ES B1$/, /Ana Q\.2 Hill$/])
  const sizes = await page.evaluate(() =>
    ['[data-invoice-total]', 'h1'].map((place) => {
      const shown = document.querySelector(place)
      return shown ? Number.parseFloat(getComputedStyle(shown).fontSize) : 0
    }),
  )
  expect(sizes[0]).toBeGreaterThan(sizes[1] ?? 0)
  const address = await page.getByText(/https?:.*\/pay\//).innerText()

  await visitor.page.goto(address.slice(address.indexOf('http')))
  const shown = visitor.page.locator('[data-invoice]')
  await expect(shown).toContainText(number)
  await expect(shown).toContainText('3 × 0.01 ETH')
  await expect(shown).toContainText('0.033 ETH')
  await expect(shown.locator('address')).toHaveText(/Tea Ltd1 QuayTax number ES B1$/)
  await expect(visitor.page.getByText('Ana Q.')).toHaveCount(0)
  await expectAccessible(visitor.page, 'link: invoice')
  await visitor.page.getByRole('button', { name: text('Review payment') }).click()
  await expectReviewed(visitor.page, 'MetaMask')
  await expect(shown).toContainText(number)
  await signButton(visitor.page, 'MetaMask').click()
  await expectPaid(visitor.page)
  await expect(visitor.page.getByText(number).first()).toBeVisible()

  await page.goto('/invoices')
  await page.getByLabel(text('Search')).fill(number)
  const listed = page.getByRole('listitem').filter({ hasText: number })
  await expect(listed.getByText(text('Paid'), { exact: true })).toBeVisible({ timeout: 60_000 })
  await expectAccessible(page, 'invoices: list')
  const exported = await downloaded(page, () =>
    page.getByRole('button', { name: text('Export') }).click(),
  )
  expect(exported.text).toContain(`${number},paid,`)
  expect(exported.text).toContain(',Ana Q.,,ETH,0.03,0.003,0.033,pay_')
  // A spreadsheet with decimal commas splits at semicolons, and reads a point as thousands.
  await page.evaluate(() =>
    localStorage.setItem('paydesk.preferences', JSON.stringify({ numbers: 'de-DE' })),
  )
  await page.reload()
  await expect(listed).toBeVisible()
  const german = await downloaded(page, () =>
    page.getByRole('button', { name: text('Export') }).click(),
  )
  expect(german.text).toContain(';Ana Q.;;ETH;0,03;0,003;0,033;pay_')
  await page.evaluate(() => localStorage.removeItem('paydesk.preferences'))
  await page.reload()
  await listed.getByRole('link').click()
  await page.emulateMedia({ media: 'print' })
  await expect(heading).toHaveText(text('Invoice {number}', { number }))
  await expect(page.getByRole('navigation')).toHaveCount(0)
  const pdf = await page.pdf({ format: 'A4' })
  expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)

  // The customer asks for their data to be deleted: the invoice stays, without them.
  await page.emulateMedia({ media: 'screen' })
  await page.getByRole('button', { name: text('Delete personal data') }).click()
  await expect(dialog).toContainText('Issued ones keep lines and notes')
  await expectAccessible(page, 'invoices: customer to delete')
  await dialog.getByRole('button', { name: text('Cancel') }).click()
  const invoicePath = new URL(page.url()).pathname
  await page.goto(`/customers/${visitor.ethereum.address}`)
  await page.getByRole('button', { name: text('Delete personal data') }).click()
  await expect(dialog).toContainText('lose name, email and address')
  await dialog.getByRole('button', { name: text('Delete personal data') }).click()
  await expect(dialog).toHaveCount(0)
  await page.goto(invoicePath)
  await page.emulateMedia({ media: 'print' })
  await expect(page.getByText(textLike('Personal data deleted: {removedOn}'))).toBeVisible()
  await expect(page.getByText('Ana Q.')).toHaveCount(0)
  await expect(heading).toHaveText(text('Invoice {number}', { number }))
  await expect(page.getByText('0.033 ETH').first()).toBeVisible()
})

test('a payment that arrives on a void invoice is to be refunded: in the inbox and on the page of links, until it is', async ({
  seller,
  buyer,
}) => {
  test.slow()
  const page = await signIn(await seller(), '/invoices')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: text('New invoice') }).click()
  await dialog.getByRole('textbox', { name: text('Customer') }).fill('Bo')
  await dialog.getByLabel(text('Currency')).selectOption('ETH')
  await dialog.getByLabel(text('Item')).fill('Winter tea')
  await dialog.getByLabel(text('Unit price before tax')).fill('0.0161')
  await dialog.getByRole('button', { name: text('Save draft') }).click()
  await page.getByRole('button', { name: text('Issue invoice') }).click()
  await dialog.getByRole('button', { name: text('Issue invoice') }).click()
  const heading = page.getByRole('heading', { level: 1 })
  await expect(heading).toHaveText(/INV-[0-9]{4}$/)
  const number = (await heading.innerText()).replace(/^.* /, '')
  const address = await page.getByText(/https?:.*\/pay\//).innerText()

  // The buyer has it built, and signs after the seller has voided the invoice.
  const visitor = await buyer({ ether: '1' })
  await visitor.page.goto(address.slice(address.indexOf('http')))
  await connectOnLink(visitor.page, 'MetaMask')
  await page.getByRole('button', { name: text('Void invoice') }).click()
  await dialog.getByRole('button', { name: text('Void invoice') }).click()
  await expect(page.getByRole('button', { name: text('Undo void') })).toBeVisible()
  await signButton(visitor.page, 'MetaMask').click()
  await expectPaid(visitor.page)
  await expect(visitor.page.getByRole('alert')).toContainText(
    text('Payment received, but not needed'),
  )

  await page.goto('/')
  const inbox = page.getByRole('listitem').filter({
    hasText: text('The link or invoice is paid or void.'),
  })
  await inbox.getByRole('link', { name: text('Show') }).click()
  const owed = page.getByRole('listitem').filter({ hasText: number })
  await expect(owed).toBeVisible()
  await expectAccessible(page, 'links: a payment to refund')
  await owed.getByRole('link', { name: text('Paid after void. Refund it.') }).click()
  await page.getByRole('button', { name: text('Review refund') }).click()
  await expectReviewed(page, 'MetaMask')
  await signButton(page, 'MetaMask').click()
  await expectPaid(page)
  await page.goto('/links')
  await expect(page.getByRole('heading', { level: 1, name: text('Payment links') })).toBeVisible()
  await expectAbsent(owed.getByRole('link', { name: text('Paid after void. Refund it.') }))
})

test('an invoice that is being typed outlasts a drag that ends outside of it and the end of the session', async ({
  net,
  seller,
  expectError,
}) => {
  expectError(/status of 40[01]/)
  const cors = {
    'access-control-allow-origin': net.urls.web,
    'access-control-allow-credentials': 'true',
  }
  const page = await signInByApi(await seller(), net, '/invoices')
  await page.clock.install()
  await page.goto('/invoices?q=none')
  await expect(page.getByText(text('No invoices'))).toBeVisible()
  // A link to the page clears the search.
  await page
    .getByRole('navigation')
    .getByRole('link', { name: text('Invoices') })
    .click()
  await expect(page.getByLabel(text('Search'), { exact: true })).toHaveValue('')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: text('New invoice') }).click()
  const name = dialog.getByRole('textbox', { name: text('Customer') })
  await name.fill('Ana Q.')
  const box = await name.boundingBox()
  if (!box) throw new Error('The field has no place on the screen.')
  await page.mouse.move(box.x + 20, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(4, 4)
  await page.mouse.up()
  await expect(name).toHaveValue('Ana Q.')

  // What cannot be right is named beside its field, by the form and by the proxy.
  await dialog.getByLabel(text('Item')).fill('Winter tea')
  await dialog.getByLabel(text('Unit price before tax')).fill('0.02')
  await dialog.getByLabel(text('Email')).fill('ana')
  const save = dialog.getByRole('button', { name: text('Save draft') })
  await save.click()
  await expect(dialog.getByText(text('Enter an email address.'))).toBeVisible()
  await dialog.getByLabel(text('Email')).fill('')
  // An address without a customer is not dropped in silence.
  await name.fill('')
  await dialog.getByLabel(text('Address')).fill('Calle Sol 1')
  await save.click()
  await expect(name).toHaveAccessibleDescription(text('Enter a name.'))
  await expect(name).toBeFocused()
  await name.fill('Ana Q.')
  await dialog.getByLabel(text('Email')).fill('ana@shop.example')
  await page.route('**/api/invoices', (route) =>
    route.fulfill({
      status: 400,
      headers: cors,
      json: {
        error: {
          code: 'INVALID_PARAMETERS',
          message: 'Invalid',
          details: { 'customer.email': 'Refused address.', 'lines.0.unitPrice': 'Refused price.' },
        },
      },
    }),
  )
  await save.click()
  await expect(dialog.getByText('Refused address.')).toBeVisible()
  await expect(dialog.getByText('Refused price.')).toBeVisible()
  await page.unroute('**/api/invoices')

  await save.click()
  await expect(dialog).toHaveCount(0)
  await expect(page).toHaveURL(/\/invoices\/ivc_/)

  await page.getByRole('button', { name: text('Edit') }).click()
  await name.fill('Ana Quispe')
  await page.context().clearCookies()
  await page.clock.fastForward('01:01')
  await page.evaluate(() =>
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true })),
  )
  await expect(page.getByText(text('Session ended.'))).toBeVisible()
  await expect(name).toHaveValue('Ana Quispe')
  // A press outside still closes it.
  await page.mouse.click(4, 4)
  await expect(dialog).toHaveCount(0)
})

test('a page without entries says in a sentence what it is for, and has one way to begin', async ({
  net,
  seller,
}) => {
  const page = await signInByApi(await seller(), net, '/')
  const headers = {
    'access-control-allow-origin': net.urls.web,
    'access-control-allow-credentials': 'true',
  }
  const numbering = { prefix: 'INV-', next: 'INV-0001' }
  for (const { path, api, json, sentence, action } of [
    {
      path: '/invoices',
      api: '**/api/invoices/list',
      json: { invoices: [], next: null, numbering, seller: null },
      sentence: text('Bill customers by link.'),
      action: text('New invoice'),
    },
    {
      path: '/products',
      api: '**/api/products',
      json: { products: [] },
      sentence: text('Use products in links and invoices.'),
      action: text('New product'),
    },
    {
      path: '/links',
      api: '**/api/links',
      json: { links: [], short: [] },
      sentence: text('Share a link to get paid.'),
      action: text('New link'),
    },
    {
      path: '/files',
      api: '**/api/files',
      json: { offered: true, sealed: true, files: [] },
      sentence: text('Buyers pay, then download.'),
      action: text('Sell a file'),
    },
    {
      path: '/developers',
      api: '**/api/webhooks',
      json: { success: true, webhooks: [] },
      sentence: text('Get events on your server.'),
      action: text('Add webhook'),
    },
  ]) {
    await page.route(api, (route) => route.fulfill({ headers, json }))
    await page.goto(path)
    await expect(page.getByText(sentence)).toBeVisible()
    await expect(page.getByRole('button', { name: action })).toHaveCount(1)
    await page.unroute(api)
  }
})
