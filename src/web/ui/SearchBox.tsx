import { useEffect, useRef, useState } from 'react'
import { Icon } from './Icon.tsx'
import { Input } from './Input.tsx'

const PAUSE_MS = 350
/** The addresses of pages take as many. */
const MOST_CHARACTERS = 100

export type SearchBoxProps = {
  label: string
  placeholder: string
  /** What is searched now, as the address says. */
  text: string
  onSearch: (text: string) => void
}

/** Searches once the typing pauses, or with Enter. */
export function SearchBox({ label, placeholder, text, onSearch }: SearchBoxProps) {
  const { typed, setTyped, search } = useTypedSearch(text, onSearch)
  return (
    <form
      className="min-w-56 flex-1"
      onSubmit={(event) => {
        event.preventDefault()
        search(typed.trim())
      }}
    >
      <Input
        aria-label={label}
        maxLength={MOST_CHARACTERS}
        onChange={(event) => setTyped(event.target.value)}
        placeholder={placeholder}
        prefix={<Icon name="search" />}
        type="search"
        value={typed}
      />
    </form>
  )
}

/** The text of a search box. What is not accepted is not searched. */
export function useTypedSearch(
  text: string,
  onSearch: (text: string) => void,
  accepts: (text: string) => boolean = () => true,
) {
  const [typed, setTyped] = useState(text)
  const lastQuery = useRef(text)

  // The address changed without us: Back, "Clear filters", or a link to the page.
  useEffect(() => {
    if (text === lastQuery.current) return
    lastQuery.current = text
    setTyped(text)
  }, [text])

  useEffect(() => {
    const query = typed.trim()
    if (query === lastQuery.current) return
    const timer = setTimeout(() => search(query), PAUSE_MS)
    return () => clearTimeout(timer)
  })

  function search(query: string) {
    if (!accepts(query)) return
    lastQuery.current = query
    onSearch(query)
  }

  return { typed, setTyped, search }
}
