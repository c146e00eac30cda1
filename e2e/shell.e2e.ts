import { expectAccessible } from './expect-accessible.ts'
import { expect, test } from './fixtures.ts'
import { tabTo } from './keyboard.ts'
import { startingWith, text } from './text.ts'

/** What stands around every page, for readers who zoom, choose their own colours, or want nothing to move. */

const PATHS = [
  '/',
  '/pay',
  '/payments',
  '/verify',
  '/explore',
  '/links',
  '/products',
  '/invoices',
  '/developers',
  '/balances',
  '/customers',
  '/files',
  '/people',
  '/join',
  '/settings',
]

test('at 200 % of a small window nothing is cut off and nothing has to be scrolled sideways', async ({
  visitor,
}) => {
  const page = await visitor()
  // 1280 × 1024 at 200 % is 640 × 512 to the page; at 400 % it is 320 (WCAG 1.4.10).
  for (const viewport of [
    { width: 640, height: 512 },
    { width: 320, height: 256 },
  ]) {
    await page.setViewportSize(viewport)
    for (const path of PATHS) {
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await page.waitForLoadState('networkidle')
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth),
        `${path} at ${viewport.width}`,
      ).toBeLessThanOrEqual(viewport.width)
    }
  }
})

test('the skip link is the first stop and leads to the page; links move title and focus', async ({
  visitor,
}) => {
  const page = await visitor()
  await page.goto('/')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.keyboard.press('Tab')
  const skip = page.getByRole('button', { name: text('Skip to content') })
  await expect(skip).toBeFocused()
  await expect(skip).toBeInViewport()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('main')).toBeFocused()

  for (const [name, title] of [
    [text('Payments'), /^Payments · /],
    [text('Settings'), /^Settings · /],
  ] as const) {
    await page
      .getByRole('navigation', { name: text('Main') })
      .first()
      .getByRole('link', { name, exact: true })
      .press('Enter')
    await expect(page).toHaveTitle(title)
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
    await expect(
      page
        .getByRole('navigation', { name: text('Main') })
        .first()
        .getByRole('link', { name, exact: true }),
    ).toHaveAttribute('aria-current', 'page')
  }
  await page.goBack()
  await expect(page).toHaveTitle(/^Payments · /)
})

test('in forced colours every control has an edge and what is chosen differs by more than a colour', async ({
  visitor,
}) => {
  const page = await visitor()
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto('/settings')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.waitForLoadState('networkidle')
  const bare = await page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        'main button:not([role]), main input:not([type=radio]), main select',
      ),
    ]
      .filter((each) => each.checkVisibility() && !each.closest('.sr-only'))
      .filter((each) => {
        const edged = (element: HTMLElement | null): boolean =>
          element !== null && Number.parseFloat(getComputedStyle(element).borderTopWidth) > 0
        return (
          !edged(each) &&
          !edged(each.parentElement) &&
          getComputedStyle(each).outlineStyle === 'none' &&
          each.textContent === ''
        )
      })
      .map((each) => each.outerHTML.slice(0, 120)),
  )
  expect(bare).toEqual([])
  const system = page.getByRole('radio', { name: text('System') })
  await expect(system).toBeChecked()
  const [chosen, other] = await page.evaluate(() =>
    ['System', 'Light'].map((name) => {
      const label = [...document.querySelectorAll('label')].find(
        (each) => each.textContent === name,
      )
      const { borderTopColor, outlineStyle, backgroundColor } = getComputedStyle(
        label ?? document.body,
      )
      return [borderTopColor, outlineStyle, backgroundColor].join()
    }),
  )
  expect(chosen).not.toBe(other)
})

test('with reduced motion nothing moves for longer than a blink', async ({ visitor }) => {
  const page = await visitor()
  await page.emulateMedia({ reducedMotion: 'reduce' })
  for (const path of PATHS) {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await page.waitForLoadState('networkidle')
    const moving = await page.evaluate(() =>
      document
        .getAnimations()
        .filter((animation) => {
          const timing = animation.effect?.getComputedTiming()
          return Number(timing?.activeDuration ?? 0) > 20
        })
        .map((animation) => String((animation.effect as KeyframeEffect | null)?.target?.className)),
    )
    expect(moving, path).toEqual([])
  }
})

test('an own node is tested, named by its age and speed, and a wrong one is not kept', async ({
  net,
  visitor,
}) => {
  const page = await visitor()
  await page.goto('/settings')
  const node = page.getByRole('textbox', { name: net.networks[0]?.name })
  await page
    .getByRole('button', { name: text('Test'), exact: true })
    .first()
    .click()
  await expect(page.getByText(text('Right network, reachable'))).toBeVisible()
  await expect(page.getByText(text('Newest block age'))).toBeVisible()
  await expectAccessible(page, 'settings: node that answers')

  await node.fill(net.solana.rpcUrl)
  await page.getByRole('button', { name: text('Test and save') }).click()
  await expect(page.getByText(text('Not used'))).toBeVisible()
  await expectAccessible(page, 'settings: node refused')
  await page.reload()
  await expect(node).toHaveValue(net.evm.rpcUrl)
})

test('an address gets a name, comes back after it was removed, and a limit is kept', async ({
  net,
  visitor,
}) => {
  const page = await visitor()
  await page.goto('/settings')
  await page.getByRole('button', { name: text('Add an address') }).click()
  const dialog = page.getByRole('dialog')
  // What is to be filled in first has the focus, not the cross.
  await expect(dialog.getByRole('textbox', { name: text('Name') })).toBeFocused()
  await page.keyboard.type('Acme')
  await dialog.getByRole('textbox', { name: text('Address') }).fill('0x1234')
  await dialog.getByRole('button', { name: text('Save') }).click()
  await expect(dialog.getByText(text('Paste the whole address.'))).toBeVisible()
  await expectAccessible(page, 'settings: address refused')
  await dialog.getByRole('textbox', { name: text('Address') }).fill(net.wallets.seller.evm.address)
  await dialog.getByRole('button', { name: text('Save') }).click()
  await expect(dialog).toBeHidden()
  await page.getByRole('button', { name: text('Remove {name}', { name: 'Acme' }) }).click()
  await expect(
    page.getByRole('button', { name: text('Remove {name}', { name: 'Acme' }) }),
  ).toBeHidden()
  await expect(
    page.getByRole('region', { name: text('Address book') }).locator(':focus'),
  ).toHaveCount(1)
  await page.getByRole('button', { name: text('Undo') }).click()
  await expect(
    page.getByRole('button', { name: text('Remove {name}', { name: 'Acme' }) }),
  ).toBeVisible()

  const limit = page
    .getByRole('group', { name: startingWith('{symbol} on {name}', { symbol: 'ETH' }) })
    .getByRole('textbox', { name: text('Per payment') })
  await limit.fill('0.5')
  await limit.blur()
  await page.reload()
  await expect(limit).toHaveValue('0.5')
  await expect(
    page.getByRole('button', { name: text('Remove {name}', { name: 'Acme' }) }),
  ).toBeVisible()
})

test('everything in the settings is done with the keyboard alone, and the place is never lost', async ({
  net,
  visitor,
}) => {
  test.slow()
  const page = await visitor()
  await page.goto('/settings')
  const { keyboard } = page
  const book = page.getByRole('region', { name: text('Address book') })
  const dialog = page.getByRole('dialog')

  await tabTo(page.getByRole('radio', { name: text('System') }))
  await keyboard.press('ArrowRight')
  await keyboard.press('ArrowRight')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')

  await tabTo(book.getByRole('button', { name: text('Add an address') }))
  await keyboard.press('Enter')
  await keyboard.type('Acme')
  await tabTo(dialog.getByRole('textbox', { name: text('Address') }))
  await keyboard.type(net.wallets.seller.evm.address)
  await tabTo(dialog.getByRole('button', { name: text('Save') }))
  await keyboard.press('Enter')
  await expect(book.getByText('Acme')).toBeVisible()
  await expect(book.locator(':focus')).toHaveCount(1)
  await tabTo(book.getByRole('button', { name: text('Remove {name}', { name: 'Acme' }) }))
  await keyboard.press('Enter')
  await expect(book.getByText('Acme')).toHaveCount(0)
  await expect(book.locator(':focus')).toHaveCount(1)
  await tabTo(page.getByRole('button', { name: text('Undo') }))
  await keyboard.press('Space')
  await expect(book.getByText('Acme')).toBeVisible()

  const limit = page
    .getByRole('group', { name: startingWith('{symbol} on {name}', { symbol: 'ETH' }) })
    .getByRole('textbox', { name: text('Per payment') })
  await tabTo(limit)
  await keyboard.type('0.5')
  await tabTo(page.getByRole('button', { name: text('Test'), exact: true }).first())
  await keyboard.press('Enter')
  await expect(page.getByText(text('Right network, reachable'))).toBeVisible()
  await expect(page.getByRole('button', { name: text('Test'), exact: true }).first()).toBeFocused()

  await tabTo(page.getByRole('combobox', { name: text('Language') }))
  await keyboard.type('Espa')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Ajustes')
  await expect(page.getByRole('combobox', { name: 'Idioma' })).toBeFocused()
  await page.reload()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Ajustes')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await expect(page.getByRole('textbox', { name: 'Por pago' }).first()).toHaveValue('0,5')
})

test('a dashboard without its settings says what is missing', async ({ visitor, expectError }) => {
  expectError(/status of 404/)
  const page = await visitor()
  await page.route('**/config.json', (route) => route.fulfill({ status: 404 }))
  await page.goto('/')
  await expect(page.getByRole('heading', { name: text('Dashboard not set up') })).toBeVisible()
  await expect(page.getByRole('alert')).toContainText('/config.json')
  await expectAccessible(page, 'shell: not set up')
})
