import { use, type ComponentProps, type MouseEvent } from 'react'
import { hrefOf, navigate } from './location.ts'
import { PreloadContext } from './preload.ts'

export type LinkProps = Omit<ComponentProps<'a'>, 'href'> & {
  /** A path from `pathTo`. */
  to: string
  replace?: boolean
}

/** A plain link that stays in the app; with a modifier key, or to another tab, it is the browser's. */
export function Link({ to, replace, onClick, ...rest }: LinkProps) {
  const preload = use(PreloadContext)
  function handleClick(event: MouseEvent<HTMLAnchorElement>) {
    onClick?.(event)
    const plain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (event.defaultPrevented || !plain || rest.target === '_blank') return
    event.preventDefault()
    navigate(to, { replace })
  }
  return (
    <a
      {...rest}
      href={hrefOf(to)}
      onClick={handleClick}
      onFocus={() => preload(to)}
      onPointerEnter={() => preload(to)}
    />
  )
}
