import type { BrowserContext, Page } from '@playwright/test'
import { connectOnForm, expectReviewed, review, signButton } from './checkout.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible } from './expect-accessible.ts'
import { onEthereum } from './orders.ts'
import { createShortLinkByApi, signInByApi } from './seller.ts'
import { text } from './text.ts'

/** The reader's language and number format. */

const speak = (context: BrowserContext, language: string) =>
  context.addInitScript(
    (chosen) => localStorage.setItem('paydesk.preferences', JSON.stringify({ language: chosen })),
    language,
  )

/** Chinese: a text without a Chinese character is in no catalog, or one of the terms below. */
const HAN = /\p{Script=Han}/u

/**
 * Names, addresses, figures, text by a person or another program, and terms that Chinese leaves as they are.
 */
const FOREIGN =
  /^[\W\d_]*$|^[\d.,]+ (W?ETH|SOL|USDC)$|^(MetaMask|Phantom|Solflare|Ethereum|Solana|Paydesk|Demo wallet|Local|W?ETH|SOL|USDC|UTC|ISO 8601|English|Español|简体中文|GET|POST|PUT|PATCH|DELETE|HEAD|JSON|CSV|cURL|[Ff]acilitator|Lamport)\b/

const IDENTIFIER = /^(0x|pay_|lnk_|https?:)|[1-9A-HJ-NP-Za-km-z]{32}|…/

/** Visible text, and names only for screen readers, that came from no catalog. */
async function plainTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found = new Set<string>()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const skipped =
      'script, style, code, pre, kbd, samp, time, textarea, option[lang], [translate=no], .font-mono, .figures, [data-foreign], title'
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement
      if (
        parent &&
        !parent.closest(skipped) &&
        parent.checkVisibility({ visibilityProperty: true })
      )
        found.add(node.nodeValue?.trim() ?? '')
    }
    for (const element of document.querySelectorAll(
      '[aria-label], [title], [placeholder], [alt]',
    )) {
      if (element.closest(skipped)) continue
      for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
        found.add(element.getAttribute(name)?.trim() ?? '')
    }
    return [...found].filter(Boolean)
  })
}

/** `written`: texts by the people who set this dashboard up. */
async function expectTranslated(
  page: Page,
  where: string,
  written: ReadonlySet<string>,
): Promise<void> {
  const own = (await plainTexts(page)).filter(
    (text) =>
      !written.has(text) && !HAN.test(text) && !FOREIGN.test(text) && !IDENTIFIER.test(text),
  )
  expect(own, `text on ${where} that is in no catalog`).toEqual([])
}

test('no page shows a word that is in no catalog', async ({ net, seller }) => {
  const config: { examples: { name: string; description: string }[] } = await (
    await fetch(`${net.urls.bff}/api/config`)
  ).json()
  const written = new Set(config.examples.flatMap(({ name, description }) => [name, description]))
  const { context, page } = await seller()
  await speak(context, 'zh-CN')
  for (const path of [
    '/',
    '/payments',
    '/verify',
    '/explore',
    '/developers',
    '/links',
    '/settings',
    '/nowhere',
  ]) {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toContainText(HAN)
    await page.waitForLoadState('networkidle')
    await expectTranslated(page, path, written)
  }
  expect(await page.title()).toMatch(HAN)
  // The first heading of a checkout is the merchant's name, beside its initial.
  await page.goto('/pay')
  await expect(page.getByRole('main').getByRole('button').last()).toContainText(HAN)
  await expectTranslated(page, '/pay', new Set([...written, 'P']))

  await page.goto('/payments')
  await page.getByRole('banner').getByRole('button').last().click()
  await page.getByRole('dialog').getByText('MetaMask').waitFor()
  await expectTranslated(page, 'the connect dialog', written)
})

test('a Spanish browser gets Spanish, writes 0,01 and reads what it wrote', async ({
  browser,
  net,
  buyer,
}) => {
  const person = await buyer({ ether: '1' })
  const context = await browser.newContext({
    baseURL: net.urls.web,
    locale: 'es-ES',
    timezoneId: 'UTC',
  })
  await person.ethereum.install(context)
  const page = await context.newPage()
  const { to, network } = onEthereum(net, '0.01')
  await page.goto(`/pay?${new URLSearchParams({ to, network }).toString()}`)
  await expect(page.locator('html')).toHaveAttribute('lang', 'es')
  await expect(page).toHaveTitle(/^Pagar · /)

  const amount = page.getByRole('textbox', { name: 'Importe' })
  // A thousand times more or less: it is not guessed.
  await amount.fill('1.234')
  await expect(page.getByText('Hasta 18 decimales.')).toBeVisible()
  await expect(page.getByText(/^Pagas /)).toBeHidden()
  await amount.fill('0,01')
  await expect(page.getByText(/^Pagas 0,01/)).toBeVisible()

  // The button and what is beside it write one amount in one way.
  await page.getByRole('button', { name: 'Conectar un monedero para pagar' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /MetaMask.*Ethereum/ })
    .click()
  await page.getByRole('button', { name: 'Revisar el pago' }).click()
  await expect(page.getByRole('button', { name: 'Pagar 0,01 ETH', exact: true })).toBeEnabled()
  await context.close()
})

const CHECKOUTS = [
  {
    language: 'es',
    connect: 'Conectar un monedero para pagar',
    pay: /^Pagar 0,0161 ETH$/,
    details: 'Detalles',
    paid: 'Pago completado',
    back: 'Volver a shop.example',
    worth: 'unos 50,24 US$',
  },
  {
    language: 'zh-CN',
    connect: '连接钱包以付款',
    pay: /^支付 0\.0161 ETH$/,
    details: '详情',
    paid: '支付完成',
    back: '返回 shop.example',
    worth: '约 US$50.24',
  },
] as const
for (const words of CHECKOUTS)
  test(`a link is paid from its first screen to the receipt in ${words.language === 'es' ? 'Spanish' : 'Chinese'}`, async ({
    net,
    seller,
    buyer,
  }) => {
    const shop = await signInByApi(await seller(), net, '/links')
    const link = await createShortLinkByApi(shop, net, {
      price: { currency: 'ETH', amount: '0.0161' },
      description: 'Otoño 秋季',
      reference: 'INV-L',
      maxPieces: 3,
      askEmail: true,
      returnUrl: 'https://shop.example/thanks',
    })
    const written = new Set(['Otoño 秋季', 'INV-L', 'P', net.urls.bff])
    const { context, page } = await buyer({ ether: '1' })
    await speak(context, words.language)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(link)
    const connectButton = page.getByRole('button', { name: words.connect })
    await expect(connectButton).toBeVisible()
    await expect(page.getByText(words.worth)).toBeVisible()
    await expectAccessible(page, 'link: ready to pay, in another language')
    await expectInLanguage('the link')
    await connectButton.click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /MetaMask/ })
      .click()
    const sign = page.getByRole('button', { name: words.pay })
    await expect(sign).toBeEnabled()
    await expect(sign).not.toHaveAttribute('aria-busy')
    await page
      .getByRole('group', { name: words.details, exact: true })
      .locator('summary')
      .first()
      .press('Enter')
    await expectAccessible(page, 'checkout: review, in another language')
    await expectInLanguage('the review')
    await sign.click()
    await expect(page.getByRole('heading', { name: words.paid })).toBeVisible()
    await expect(page.getByRole('link', { name: words.back })).toBeInViewport({ ratio: 1 })
    await expectAccessible(page, 'checkout: paid, in another language')
    await expectInLanguage('the receipt')

    async function expectInLanguage(where: string): Promise<void> {
      if (words.language === 'zh-CN') await expectTranslated(page, where, written)
    }
  })

test('a language that is chosen takes over at once, without losing what was typed, and stays', async ({
  visitor,
}) => {
  const page = await visitor()
  await page.goto('/settings')
  await page.getByRole('combobox', { name: text('Language') }).selectOption('zh-CN')
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('设置')
  await page.reload()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('设置')
  await expect(page.getByRole('navigation').first()).toContainText('付款')
  await page.getByRole('combobox', { name: '语言' }).selectOption('auto')
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
})

test('numbers and dates are written as chosen, whatever the language', async ({ net, buyer }) => {
  const { page } = await buyer({ ether: '1' })
  await page.goto('/settings')
  await page.getByRole('combobox', { name: text('Numbers') }).selectOption('de-DE')
  await page.getByText('ISO 8601', { exact: true }).click()
  await expect(page.getByText('1.234.567,89').first()).toBeVisible()
  await expect(page.getByText(/^Now: 20\d\d-\d\d-\d\d/)).toBeVisible()
  const { to, network } = onEthereum(net, '0.01')
  await page.goto(`/pay?${new URLSearchParams({ to, network, amount: '0.01' }).toString()}`)
  await connectOnForm(page, 'MetaMask')
  await review(page, 'MetaMask')
  await expectReviewed(page, 'MetaMask')
  await expect(page.getByText('0,01').first()).toBeVisible()
  await expect(signButton(page, 'MetaMask')).toBeEnabled()
})
