import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './errors.ts'
import { sessionQuery } from './queries.ts'

const MAX_RETRIES = 2
const MAX_WAIT_MS = 60_000

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      // The session ended behind our back: ask who we are, and the pages follow.
      if (
        error instanceof ApiError &&
        error.code === 'UNAUTHORIZED' &&
        query.queryKey[0] !== 'session'
      )
        void queryClient.invalidateQueries(sessionQuery)
    },
  }),
  defaultOptions: {
    queries: {
      // A pause is waited for, however often it comes: it ends by itself, and so does the reading.
      retry: (failures, error) =>
        error instanceof ApiError &&
        (error.code === 'RATE_LIMIT' || (error.retryable && failures < MAX_RETRIES)),
      retryDelay: (failures, error) =>
        Math.min(
          MAX_WAIT_MS,
          error instanceof ApiError && error.retryAfter
            ? error.retryAfter * 1000
            : 1000 * 2 ** failures,
        ),
      refetchOnWindowFocus: true,
    },
  },
})
