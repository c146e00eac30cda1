import { createContext } from 'react'

/** Starts to fetch the code of a path's page. The app, which knows the pages, provides it. */
export const PreloadContext = createContext<(path: string) => void>(() => undefined)
