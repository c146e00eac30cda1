import { createId } from '#contract/payment.ts'
import { imageTypeOf, MOST_IMAGE_BYTES } from '#contract/browser-rows.ts'
import type { ProductBody } from '#contract/product-endpoints.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  findImages,
  insertProduct,
  listProducts,
  updateProduct,
  type ImageRow,
  type ProductRow,
} from '../db/products.ts'
import { requireNoProblems } from '../http/parse.ts'
import { readPrice } from '../links/short-link.ts'
import { type OwnCall, type OwnRule, notFound, requireRole } from '../session/rule.ts'

const MOST = 500

export const productList: OwnRule<'productList'> = async ({ context }) => {
  const rows = await listProducts(context.db, MOST)
  return { value: { products: rows.map(productBody) } }
}

export const productCreate: OwnRule<'productCreate'> = async ({ context, visitor, body }) => {
  const { image, ...fields } = readFields(context, body)
  const row = {
    id: createId('prd'),
    ...fields,
    imageId: image?.id ?? null,
    archivedAt: null,
    createdBy: requireRole(visitor, 'operator').member.wallet,
    createdAt: context.now(),
  }
  await insertProduct(context.db, row, image)
  return { value: { product: productBody(row) } }
}

export const productUpdate: OwnRule<'productUpdate'> = async ({ context, body }) => {
  const { image, ...fields } = readFields(context, body)
  const changed = body.image === undefined ? {} : { imageId: image?.id ?? null }
  const row = await updateProduct(context.db, { id: body.id, ...fields, ...changed }, image)
  if (!row) throw notFound()
  return { value: { product: productBody(row) } }
}

export const productArchive: OwnRule<'productArchive'> = async ({ context, body }) => {
  const archivedAt = body.archived ? context.now() : null
  const row = await updateProduct(context.db, { id: body.id, archivedAt })
  if (!row) throw notFound()
  return { value: { product: productBody(row) } }
}

/** For anybody: the payer of a link sees the picture of what it sells. Nobody guesses an id. */
export const imageRead: OwnRule<'imageRead'> = async ({ context, visitor, body }) => {
  context.budgets.spendLink(visitor.address)
  const rows = await findImages(context.db, body.ids)
  return { value: { images: rows.map(({ id, type, data }) => ({ id, type, data })) } }
}

type Fields = Pick<ProductRow, 'name' | 'description' | 'price'> & { image: ImageRow | undefined }

/** @throws ProblemError `INVALID_PARAMETERS` that names every field that is wrong */
function readFields(
  context: ProxyContext,
  { name, description, price, image }: OwnCall<'productCreate' | 'productUpdate'>['body'],
): Fields {
  const details: Record<string, string> = {}
  const fields = {
    name,
    description: description ?? null,
    price: readPrice(context, price, { details }),
    image:
      typeof image === 'string' ? readImage(image, { now: context.now(), details }) : undefined,
  }
  requireNoProblems(details)
  return fields
}

/** Only what the bytes begin with decides the type, and only three types are stored. */
function readImage(
  data: string,
  { now, details }: { now: Date; details: Record<string, string> },
): ImageRow | undefined {
  const bytes = Buffer.from(data, 'base64')
  const type = imageTypeOf(bytes)
  if (type === undefined) details['image'] = 'Expected a PNG, JPEG or WebP image.'
  else if (bytes.length > MOST_IMAGE_BYTES)
    details['image'] = `Expected at most ${MOST_IMAGE_BYTES} bytes, received ${bytes.length}.`
  return type === undefined ? undefined : { id: createId('img'), type, data, createdAt: now }
}

function productBody(row: ProductRow): ProductBody {
  const { id, name, description, price, imageId, archivedAt, createdAt } = row
  return {
    id,
    name,
    description,
    price,
    image: imageId,
    archivedAt: archivedAt?.getTime() ?? null,
    createdAt: createdAt.getTime(),
  }
}
