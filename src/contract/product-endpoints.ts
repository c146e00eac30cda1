import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'
import { ItemPrice } from './payment-link.ts'

/** What the merchant sells, and the pictures of it: the proxy's own endpoints. */

export const ProductBody = v.object({
  id: v.string(),
  name: v.string(),
  description: v.nullable(v.string()),
  /** Of one piece. */
  price: ItemPrice,
  /** The id of a picture, for `imageRead`. */
  image: v.nullable(v.string()),
  /** Null while links can be made from it. */
  archivedAt: v.nullable(timestamp),
  createdAt: timestamp,
})
export type ProductBody = v.InferOutput<typeof ProductBody>

/** Pictures that one request may read. */
export const MOST_IMAGES = 20

const ProductAnswer = v.object({ product: ProductBody })

export const productEndpoints = {
  /** Newest first, archived ones too. */
  productList: {
    method: 'GET',
    path: '/products',
    response: v.object({ products: v.array(ProductBody) }),
  },
  productCreate: { method: 'POST', path: '/products', response: ProductAnswer },
  /** Links that were made before keep the name, the picture and the price they were made with. */
  productUpdate: { method: 'POST', path: '/products/update', response: ProductAnswer },
  /** No link is made from an archived product; its links work on. */
  productArchive: { method: 'POST', path: '/products/archive', response: ProductAnswer },
  /** For anybody who has an id. A picture never changes; an unknown id is left out. */
  imageRead: {
    method: 'POST',
    path: '/images/read',
    response: v.object({
      images: v.array(v.object({ id: v.string(), type: v.string(), data: v.string() })),
    }),
  },
} as const satisfies Record<string, Call>
