import { expectAbsent } from './absent.ts'
import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { createShortLinkByApi, signInByApi } from './seller.ts'
import { text, textLike } from './text.ts'

test('from any page of the dashboard the keyboard alone finds a payment, a page and what to begin', async ({
  net,
  seller,
  expectError,
}) => {
  expectError(/status of 401/)
  const person = await seller()
  await person.page.clock.install()
  const page = await signInByApi(person, net, '/payments')
  const row = page
    .getByRole('table', { name: textLike('Payments') })
    .getByRole('link')
    .first()
  const path = (await row.getAttribute('href')) ?? ''
  const { keyboard } = page
  const box = page.getByRole('combobox', { name: text('Page, payment, customer or address') })

  await keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await expectAccessible(page, 'palette: open')
  // A letter like any other here, whatever it does on the page behind.
  await keyboard.type('/')
  await expect(box).toHaveValue('/')
  await keyboard.press('Escape')
  await expect(box).toHaveCount(0)

  const button = page.getByRole('banner').getByRole('button', { name: text('Search') })
  await tabTo(button)
  await keyboard.press('Enter')
  await expect(box).toBeFocused()
  await keyboard.press('Escape')
  await expect(button).toBeFocused()

  await keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await keyboard.type(path.split('/').at(-1) ?? '')
  await keyboard.press('Enter')
  await expect(page).toHaveURL(path)

  await keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await keyboard.type('status:finalized')
  // The page behind may have options too.
  await expect(page.getByRole('listbox').getByRole('option')).toHaveCount(6)
  // Up from the first one is the last one: all that the search finds.
  await keyboard.press('ArrowUp')
  await keyboard.press('Enter')
  await expect(page).toHaveURL('/payments?q=status%3Afinalized')

  await keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await keyboard.type('settings')
  await keyboard.press('Enter')
  await expect(page).toHaveURL('/settings')

  await keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await keyboard.type('create a payment')
  await keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toBeVisible()
  // Nothing covers a dialog.
  await keyboard.press('Control+k')
  await expect(dialog).toHaveCount(1)
  await expect(box).toHaveCount(0)

  // From the same page it works again, and a session that ends leaves what was typed.
  await keyboard.press('Escape')
  await expect(page).toHaveURL('/links')
  await expect(dialog).toHaveCount(0)
  await keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await keyboard.type('create a payment')
  await keyboard.press('Enter')
  const what = dialog.getByLabel(text('Description'))
  await what.fill('A print')
  await page.context().clearCookies()
  await page.clock.fastForward('01:01')
  await expect(page.getByText(text('No access'))).toBeVisible()
  await expect(what).toHaveValue('A print')
  await keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)

  // A customer's page has no way into the dashboard.
  await signInByApi(person, net)
  await page.goto(await createShortLinkByApi(page, net, {}))
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await keyboard.press('Control+k')
  await expectAbsent(dialog)
  await expect(button).toHaveCount(0)
})
