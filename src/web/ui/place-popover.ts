/** Puts an open popover under the end of what opened it, wholly in view. */
export function placePopover(popover: HTMLElement, opener: HTMLElement): void {
  const box = opener.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = popover
  popover.style.top = `${Math.max(8, Math.min(box.bottom + 4, innerHeight - height - 8))}px`
  popover.style.left = `${Math.max(8, Math.min(box.right - width, innerWidth - width - 8))}px`
}
