// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Tokens whose name is an attack on whoever reads it, for tests. Everything else about them is plain.
contract HostileToken {
    enum Hostility {
        /// As tokens of the first years do: 32 bytes instead of a string.
        ThirtyTwoBytes,
        /// A megabyte of text.
        Megabyte,
        Reverts,
        /// Uses up whatever gas it is given.
        Loops,
        /// Turns the direction of what stands beside it, hides characters, ends the line.
        HiddenCharacters,
        /// A string that says it is longer than the answer.
        Truncated,
        /// A proxy without anything behind it: every call answers nothing.
        EmptyProxy
    }

    Hostility public immutable hostility;

    constructor(Hostility hostility_) {
        hostility = hostility_;
    }

    fallback() external {
        bytes4 selector = msg.sig;
        if (hostility == Hostility.EmptyProxy) {
            assembly {
                return(0, 0)
            }
        }
        if (selector == 0x313ce567) answer(abi.encode(uint256(6)));
        if (selector == 0x18160ddd) answer(abi.encode(uint256(1000)));
        if (selector != 0x06fdde03 && selector != 0x95d89b41) revert();
        if (hostility == Hostility.ThirtyTwoBytes) answer(abi.encode(bytes32("Maker")));
        if (hostility == Hostility.Megabyte) answer(abi.encode(string(new bytes(1_000_000))));
        if (hostility == Hostility.Loops) while (true) {}
        if (hostility == Hostility.HiddenCharacters) answer(abi.encode(string(hex"e280ae555344e2808b000a436f696ee281a6")));
        if (hostility == Hostility.Truncated) answer(abi.encode(uint256(32), uint256(2 ** 255)));
        revert("no name");
    }

    function answer(bytes memory data) private pure {
        assembly {
            return(add(data, 32), mload(data))
        }
    }
}
