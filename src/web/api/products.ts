import { queryOptions } from '@tanstack/react-query'
import type { ProductBody } from '#contract/product-endpoints.ts'
import { callProxy } from './client.ts'
import { queryClient } from './query-client.ts'

export const productsQuery = queryOptions({
  queryKey: ['productList'],
  queryFn: async ({ signal }) => (await callProxy('productList', {}, { signal })).products,
  staleTime: 15_000,
})

/** Puts a product's new state where the list shows it, without a second reading. */
export function cacheProduct(product: ProductBody): void {
  queryClient.setQueryData(productsQuery.queryKey, (products) => {
    if (!products) return products
    const known = products.some(({ id }) => id === product.id)
    return known
      ? products.map((each) => (each.id === product.id ? product : each))
      : [product, ...products]
  })
}
