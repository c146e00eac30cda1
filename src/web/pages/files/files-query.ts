import { queryOptions } from '@tanstack/react-query'
import type { FileBody } from '#contract/file-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { formatNumber } from '../../locales/formats.ts'

export const filesQuery = queryOptions({
  queryKey: ['fileList'],
  queryFn: ({ signal }) => callProxy('fileList', {}, { signal }),
  staleTime: 15_000,
})

/** After a change: the file as the proxy told it, in its place or first. */
export function cacheFile(file: FileBody): void {
  queryClient.setQueryData(filesQuery.queryKey, (list) => {
    if (!list) return list
    const known = list.files.some(({ id }) => id === file.id)
    const files = list.files.map((each) => (each.id === file.id ? file : each))
    return { ...list, files: known ? files : [file, ...files] }
  })
}

export function forgetFile(id: string): void {
  queryClient.setQueryData(
    filesQuery.queryKey,
    (list) => list && { ...list, files: list.files.filter((file) => file.id !== id) },
  )
}

/** What anybody who has the address is told of a file. */
export function fileQuery(code: string) {
  return queryOptions({
    queryKey: ['fileOpen', code],
    queryFn: ({ signal }) => callProxy('fileOpen', { body: { code } }, { signal }),
  })
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** A size as people read it: `1.2 MB`. */
export function formatSize(bytes: number): string {
  const rank = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return formatNumber(bytes / 1000 ** rank, {
    style: 'unit',
    unit: UNITS[rank],
    unitDisplay: rank === 0 ? 'long' : 'short',
    maximumFractionDigits: rank === 0 ? 0 : 1,
  })
}
