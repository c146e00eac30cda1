import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenedShortLink, ShortLinkBody } from '#contract/link-endpoints.ts'
import { imageTypeOf, MOST_IMAGE_BYTES } from '#contract/browser-rows.ts'
import type { ProductBody } from '#contract/product-endpoints.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from '#testing/test-browser.ts'

const seller = evmWallet()
/** The smallest whole picture: one transparent pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNIc1H6DwADrAHMp2r22QAAAABJRU5ErkJggg=='
const TEA = { name: 'Tea', description: '100 g', price: { currency: 'ETH', amount: '0.01' } }
let evm: EvmFixture
let fixture: Fixture
let shop: TestBrowser

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  fixture = await Fixture.open({
    plan: 'premium',
    networks: [evm.network],
    bff: { sellerWallets: [seller.address], operatorWallets: [seller.address] },
  })
  shop = fixture.browser()
  await shop.signIn(seller)
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

const bodyOf = <Body>(answer: BrowserResponse): Body => {
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json as unknown as Body
}
const create = async (fields: object = TEA): Promise<ProductBody> =>
  bodyOf<{ product: ProductBody }>(await shop.post('/api/products', fields)).product
const sell = async (product: string, more: object = {}): Promise<ShortLinkBody> =>
  bodyOf<{ link: ShortLinkBody }>(await shop.post('/api/links/short', { product, ...more })).link
const open = async (link: string): Promise<OpenedShortLink> =>
  bodyOf(await fixture.browser().post('/api/link/open', { link }))
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('a product', () => {
  test('is created, changed and archived, and its list shows it', async () => {
    const made = await create({ ...TEA, image: PNG })
    expect(made).toMatchObject({
      name: 'Tea',
      price: { kind: 'asset', currency: 'ETH', amount: '0.01' },
      archivedAt: null,
    })
    const changed = { id: made.id, name: 'Green tea', price: { currency: 'ETH', amount: '0.02' } }
    const { product } = bodyOf<{ product: ProductBody }>(
      await shop.post('/api/products/update', changed),
    )
    expect(product).toMatchObject({ name: 'Green tea', description: null, image: made.image })
    const archive = { id: made.id, archived: true }
    await shop.post('/api/products/archive', archive)
    const { products } = bodyOf<{ products: ProductBody[] }>(await shop.get('/api/products'))
    expect(products[0]).toMatchObject({ id: made.id, archivedAt: expect.any(Number) })
  })

  test.each([
    ['a name of blanks', { name: '  ' }, 'name'],
    ['a currency without a rate', { price: { currency: 'CHF', amount: '1' } }, 'price.currency'],
    ['a price of nothing', { price: { currency: 'ETH', amount: '0' } }, 'price.amount'],
  ])('with %s is refused by the name of the field', async (_, fields, field) => {
    const answer = await shop.post('/api/products', { ...TEA, ...fields })
    expect(answer.status).toBe(400)
    expect(answer.json.error.details).toMatchObject({ [field]: expect.any(String) })
  })

  test('that does not exist cannot be changed', async () => {
    const id = `prd_${'1'.repeat(22)}`
    expect((await shop.post('/api/products/update', { id, ...TEA })).status).toBe(404)
    expect((await shop.post('/api/products/archive', { id, archived: true })).status).toBe(404)
  })
})

describe('the picture of a product', () => {
  test('is read by a payer who has its id, and by its own bytes it is a PNG', async () => {
    const { image } = await create({ ...TEA, image: PNG })
    const answer = await fixture.browser().post('/api/images/read', { ids: [image] })
    expect(answer.json).toEqual({ images: [{ id: image, type: 'image/png', data: PNG }] })
  })

  test('is no SVG, no page and no other file, whatever its name says', async () => {
    for (const text of [
      '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      '<!doctype html><script>alert(1)</script>',
      'GIF89a',
      'RIFF____AVI ',
    ]) {
      const answer = await shop.post('/api/products', { ...TEA, image: base64(text) })
      expect(answer.status, text).toBe(400)
      expect(answer.json.error.details).toMatchObject({
        image: 'Expected a PNG, JPEG or WebP image.',
      })
    }
  })

  test('is refused above its limit', async () => {
    const image = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(MOST_IMAGE_BYTES)])
    const answer = await shop.post('/api/products', { ...TEA, image: image.toString('base64') })
    expect(answer.status).toBe(400)
    expect(answer.json.error.details).toHaveProperty('image')
  })

  test('is one of three types, told by how it begins', () => {
    const typeOf = (text: string) => imageTypeOf(Buffer.from(text, 'latin1'))
    expect(typeOf('\x89PNG\r\n\x1a\n…')).toBe('image/png')
    expect(typeOf('\xff\xd8\xff\xe0')).toBe('image/jpeg')
    expect(typeOf('RIFF\x10\x20\x30\x40WEBPVP8 ')).toBe('image/webp')
    expect(typeOf('\x89PN')).toBeUndefined()
    expect(typeOf('')).toBeUndefined()
  })
})

describe('a link made from a product', () => {
  test('keeps the name, the picture and the price that it was made with', async () => {
    const product = await create({ ...TEA, image: PNG })
    const { link } = await sell(product.id)
    const before = await open(link)
    expect(before.terms).toMatchObject({
      price: { kind: 'asset', currency: 'ETH', amount: '0.01' },
      description: 'Tea',
      item: { product: product.id, name: 'Tea', description: '100 g', image: product.image },
    })
    const price = { currency: 'ETH', amount: '5' }
    await shop.post('/api/products/update', { id: product.id, name: 'Other', price, image: null })
    expect(await open(link)).toEqual(before)
    const images = await fixture.browser().post('/api/images/read', { ids: [product.image] })
    expect(images.json).toMatchObject({ images: [{ data: PNG }] })
  })

  test('asks for quantity × price, and no payer changes that', async () => {
    const { id } = await create()
    const { link } = await sell(id, { maxPieces: 5 })
    const [option] = (await open(link)).options
    const { address } = await evm.wallet(10n ** 20n)
    const pay = (more: object) =>
      fixture.browser().post('/api/link/pay', {
        link,
        walletAddress: address,
        option: { network: option?.network, asset: option?.asset },
        ...more,
      })
    const { paymentId } = bodyOf<{ paymentId: string }>(await pay({ pieces: 3 }))
    const status = await shop.get(`/api/payment/status/${paymentId}`)
    expect(status.json).toMatchObject({
      amountAtomic: '30000000000000000',
      metadata: { description: 'Tea', pieces: 3 },
    })
    expect((await pay({ pieces: 6 })).status).toBe(400)
    expect((await pay({ amount: 0.000001 })).json.error.details).toHaveProperty('amount')
  })

  test('is not made from an archived product, whose links work on', async () => {
    const { id } = await create()
    const { link } = await sell(id)
    await shop.post('/api/products/archive', { id, archived: true })
    const answer = await shop.post('/api/links/short', { product: id })
    expect(answer.status).toBe(400)
    expect(answer.json.error.details).toEqual({ product: 'Tea is archived.' })
    expect((await open(link)).state).toBe('open')
  })

  test('takes no other price or text beside the product', async () => {
    const { id } = await create()
    const answer = await shop.post('/api/links/short', {
      product: id,
      price: { currency: 'ETH', amount: '0.00001' },
      description: 'Coffee',
    })
    expect(answer.json.error.details).toEqual({
      price: 'The product sets this.',
      description: 'The product sets this.',
    })
  })
})
