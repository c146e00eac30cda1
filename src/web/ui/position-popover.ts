/** Puts an open popover under the end of what opened it, or over it where there is no room below; wholly in view. */
export function positionPopover(popover: HTMLElement, opener: HTMLElement): void {
  const box = opener.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = popover
  const below = box.bottom + 4 + height <= innerHeight - 8
  popover.style.top = `${Math.max(8, below ? box.bottom + 4 : Math.min(box.top - 4, innerHeight - 8) - height)}px`
  popover.style.left = `${Math.max(8, Math.min(box.right - width, innerWidth - width - 8))}px`
}
