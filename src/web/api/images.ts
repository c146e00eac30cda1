import { queryOptions } from '@tanstack/react-query'
import { MOST_IMAGES } from '#contract/product-endpoints.ts'
import { callProxy } from './client.ts'

type Waiting = {
  id: string
  resolve: (src: string | null) => void
  reject: (error: unknown) => void
}

let waiting: Waiting[] = []

/** A picture as a data URL; null where there is none. It never changes. */
export function imageQuery(id: string) {
  return queryOptions({
    queryKey: ['imageRead', id],
    queryFn: () => readImage(id),
    staleTime: Infinity,
  })
}

/** Pictures that a page shows together are read together. */
function readImage(id: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    waiting.push({ id, resolve, reject })
    if (waiting.length === 1) queueMicrotask(readWaiting)
  })
}

function readWaiting(): void {
  const all = waiting
  waiting = []
  for (let start = 0; start < all.length; start += MOST_IMAGES)
    void readTogether(all.slice(start, start + MOST_IMAGES))
}

async function readTogether(some: readonly Waiting[]): Promise<void> {
  try {
    const { images } = await callProxy('imageRead', { body: { ids: some.map(({ id }) => id) } })
    const known = new Map(images.map(({ id, type, data }) => [id, `data:${type};base64,${data}`]))
    for (const { id, resolve } of some) resolve(known.get(id) ?? null)
  } catch (error) {
    for (const { reject } of some) reject(error)
  }
}
