import { shortAddress } from '#contract/known-address.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { downloaded, paymentRows, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

test('a seller names a customer, finds them by it, and exports and deletes their data while the payments stay', async ({
  net,
  seller,
  expectError,
}) => {
  expectError(/status of 400 .*\/api\/customers\/profiles/)
  const page = await signInByApi(await seller(), net, '/customers')
  const list = page.getByRole('table', { name: text('Customers') })
  await expect(list.getByRole('link').first()).toBeVisible()
  await expectAccessible(page, 'customers: list')

  await list.getByRole('link').first().click()
  await expect(page.getByRole('heading', { name: text('Latest payments') })).toBeVisible()
  const address = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
  // Without a name the address is the title, as large as any other.
  const title = page.getByRole('heading', { level: 1 })
  await expect(title.getByText(shortAddress(address))).toHaveCSS('font-size', '22px')
  await page.getByLabel(text('Name')).fill('Ana Pérez')
  await page.getByLabel(text('Email')).fill('not an address')
  await page.getByLabel(text('Labels')).fill('wholesale, Berlin')
  await page.getByRole('button', { name: text('Save') }).click()
  await expect(page.getByText('Expected an e-mail address.')).toBeVisible()
  await page.getByLabel(text('Email')).fill('ana@shop.example')
  await page.getByRole('button', { name: text('Save') }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ana Pérez' })).toBeVisible()
  await expectAccessible(page, 'customers: one')

  // The name is where the payments are, and leads back.
  await page.getByRole('link', { name: text('All payments') }).click()
  await expect(page).toHaveURL(/payments\?q=from/)
  await paymentRows(page).getByRole('link', { name: 'Ana Pérez' }).first().click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ana Pérez' })).toBeVisible()

  // What a colleague saves leaves the text that is being typed.
  await page.clock.install()
  await page.goto(`/customers/${address}`)
  await page.getByLabel(text('Note')).fill('Visits in May.')
  const proxy = net.urls.bff.replace('127.0.0.1', 'localhost')
  const saved = await page.request.post(`${proxy}/api/customers/profiles`, {
    headers: { origin: net.urls.web, 'x-requested-by': 'paydesk' },
    data: { walletAddress: address, name: 'Ana P.' },
  })
  expect(saved.status(), await saved.text()).toBe(200)
  await page.clock.fastForward('01:01')
  await page.evaluate(() =>
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true })),
  )
  await expect(title).toHaveText('Ana P.')
  await expect(page.getByLabel(text('Name'))).toHaveValue('Ana P.')
  await expect(page.getByLabel(text('Note'))).toHaveValue('Visits in May.')
  await page.getByLabel(text('Name')).fill('Ana Pérez')
  await page.getByRole('button', { name: text('Save') }).click()
  await expect(title).toHaveText('Ana Pérez')

  await page.goto('/customers')
  await page.getByLabel(text('Search customers')).fill('whole')
  await expect(list.getByRole('link')).toHaveText(['Ana Pérez'])
  await expect(page).toHaveURL(/q=whole/)
  // A link to the page clears the search.
  await page
    .getByRole('navigation')
    .getByRole('link', { name: text('Customers') })
    .click()
  await expect(page).toHaveURL('/customers')
  await expect(page.getByLabel(text('Search customers'))).toHaveValue('')
  await page.getByLabel(text('Search customers')).fill('whole')
  await expect(list.getByRole('link')).toHaveText(['Ana Pérez'])
  await list.getByRole('link').click()

  // Typed in the search of payments, the name leads to the customer's payments.
  await page.goto('/payments')
  await page.getByRole('searchbox', { name: text('Search payments') }).fill('ana pér')
  const named = page.getByRole('region', { name: text('Customers found') })
  await expect(named.getByRole('link')).toHaveText([/Ana Pérez/])
  // All of them are from or to this customer: nobody wrote the name anywhere else.
  await expect(paymentRows(page).first()).toBeVisible()
  await expect(paymentRows(page).filter({ hasNotText: shortAddress(address) })).toHaveCount(0)
  await expectAccessible(page, 'payments: customers with a name')
  await named.getByRole('link').click()
  await expect(page).toHaveURL(new RegExp(`q=from%3A${address}`))
  await expect(paymentRows(page).getByRole('link', { name: 'Ana Pérez' }).first()).toBeVisible()
  await expect(named).toHaveCount(0)

  // The page of a payment is printed as a receipt, which has nothing that people of the account wrote.
  await paymentRows(page).first().getByRole('link').first().click()
  const notes = page.getByRole('heading', { name: text('Your notes') })
  for (const written of [notes, page.getByText('Ana Pérez')]) await expect(written).toBeVisible()
  await page.emulateMedia({ media: 'print' })
  for (const written of [notes, page.getByText('Ana Pérez')]) await expect(written).toBeHidden()
  await expect(page.getByRole('heading', { name: text('What happened') })).toBeVisible()
  await page.emulateMedia({ media: null })
  // A note that is not saved yet stays while another change is.
  const note = page.getByLabel(text('Note'), { exact: true })
  await note.fill('Pays late.')
  await page.getByLabel(text('Reconciled')).click()
  await expect(page.getByLabel(text('Reconciled'))).toBeChecked()
  await page.getByLabel(text('Label'), { exact: true }).fill('urgent')
  await page.getByRole('button', { name: text('Add'), exact: true }).click()
  await expect(
    page.getByRole('button', { name: text('Remove {name}', { name: 'urgent' }) }),
  ).toBeVisible()
  await expect(note).toHaveValue('Pays late.')
  await page.getByRole('button', { name: text('Save'), exact: true }).click()
  await expect(page.getByRole('button', { name: text('Save'), exact: true })).toHaveCount(0)
  await expect(note).toHaveValue('Pays late.')

  // From any page, to the customer.
  await page.keyboard.press('Control+k')
  await page
    .getByRole('combobox', { name: text('Page, payment, customer or address') })
    .fill('Ana Pér')
  await page.getByRole('option', { name: 'Ana Pérez' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ana Pérez' })).toBeVisible()

  const file = await downloaded(page, () =>
    page.getByRole('button', { name: text('Export as JSON') }).click(),
  )
  expect(JSON.parse(file.text)).toMatchObject({
    walletAddress: address,
    profile: { name: 'Ana Pérez', email: 'ana@shop.example', labels: ['wholesale', 'Berlin'] },
  })
  await page.getByRole('button', { name: text('Delete personal data') }).click()
  await expectAccessible(page, 'customers: data to delete')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: text('Delete personal data') })
    .click()
  await expect(page.getByLabel(text('Name'))).toHaveValue('')
  await expect(page.getByRole('heading', { level: 1, name: 'Ana Pérez' })).toHaveCount(0)
  await expect(
    page
      .getByRole('listitem')
      .filter({ has: page.getByRole('link') })
      .first(),
  ).toBeVisible()

  // Deleted, the name finds nobody.
  await page.keyboard.press('Control+k')
  await page
    .getByRole('combobox', { name: text('Page, payment, customer or address') })
    .fill('Ana Pér')
  await expect(
    page.getByRole('option', { name: textLike('Search payments for “{q}”') }),
  ).toBeVisible()
  await expect(page.getByRole('dialog').getByRole('status')).not.toHaveText(text('Searching…'))
  await expect(page.getByRole('option', { name: 'Ana Pérez' })).toHaveCount(0)
})
